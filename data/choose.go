package data

import "konkanitrain/internal/philox"

// siteChoose is the site of the draws of Choose.
const siteChoose = 0xc4005e01

// Choose draws n different numbers from 0 to below of, or all of these where there are no more, for a seed.
func Choose(seed uint64, n, of int) []int {
	s := philox.NewStream(philox.Key(seed), siteChoose)
	if 2*n >= of {
		return s.Perm(of)[:min(n, of)]
	}
	drawn := map[int]bool{}
	list := make([]int, 0, n)
	for len(list) < n {
		if i := s.IntN(of); !drawn[i] {
			drawn[i] = true
			list = append(list, i)
		}
	}
	return list
}
