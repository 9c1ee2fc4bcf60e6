package simd

func tiers() []*kernels { return []*kernels{plainTier()} }
