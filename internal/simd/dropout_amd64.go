package simd

// The assembly takes the fields of Drop apart.

func dropWith(f func(dst, x []float32, scale float32, threshold, row, site, key0, key1 uint32)) func(dst, x []float32, row uint32, d Drop) {
	return func(dst, x []float32, row uint32, d Drop) {
		f(dst, x, d.Scale(), d.Threshold, row, d.Site, uint32(d.Key), uint32(d.Key>>32))
	}
}

func addDropWith(f func(dst, x, y []float32, alpha, scale float32, threshold, row, site, key0, key1 uint32)) func(dst, x []float32, alpha float32, y []float32, row uint32, d Drop) {
	return func(dst, x []float32, alpha float32, y []float32, row uint32, d Drop) {
		f(dst, x, y, alpha, d.Scale(), d.Threshold, row, d.Site, uint32(d.Key), uint32(d.Key>>32))
	}
}

func dropGradWith(f func(dst, x, dy []float32, scale float32, threshold, row, site, key0, key1 uint32)) func(dx, x, dy []float32, row uint32, d Drop) {
	return func(dx, x, dy []float32, row uint32, d Drop) {
		f(dx, x, dy, d.Scale(), d.Threshold, row, d.Site, uint32(d.Key), uint32(d.Key>>32))
	}
}
