package ngram

// Discount is what is taken from the counts of n-grams of an order: from a count of 1, of 2, and of 3 or more.
type Discount struct {
	D        [3]float64 `json:"d"`
	Fallback bool       `json:"fallback"` // the counts give none
}

// fallback is what is used where the counts give no discounts, as by kenlm's --discount_fallback.
var fallback = [3]float64{0.5, 1, 1.5}

// discount is that of an order, from n, the numbers of n-grams with a count of 1, 2, 3 and 4 (Chen and Goodman 1999,
// equation 26). It is the fallback where one of the first three is 0, or a discount is below 0 or above its count, as
// of small or artificial texts, and of characters, of which few are seen once.
func discount(n [5]int) Discount {
	d := Discount{}
	y := float64(n[1]) / float64(n[1]+2*n[2])
	for i := 1; i <= 3; i++ {
		if n[i] == 0 {
			return Discount{fallback, true}
		}
		d.D[i-1] = float64(i) - float64(i+1)*y*float64(n[i+1])/float64(n[i])
		if !(d.D[i-1] >= 0 && d.D[i-1] <= float64(i)) {
			return Discount{fallback, true}
		}
	}
	return d
}

// of is what is taken from a count.
func (d *Discount) of(count uint32) float64 {
	if count == 0 {
		return 0
	}
	return d.D[min(count, 3)-1]
}
