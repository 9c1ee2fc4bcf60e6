package update

import (
	"math"
	"testing"
)

// kinds are all schedules, with 100 updates of warm-up of 500 in all.
func kinds() []Schedule {
	list := []Schedule{{}}
	for _, kind := range []string{Noam, Cosine, Linear, OneCycle, Constant} {
		list = append(list, Schedule{Kind: kind})
	}
	for _, kind := range []string{Cosine, Linear} {
		list = append(list, Schedule{Kind: kind, Final: 0.1})
	}
	for i := range list {
		list[i].Peak, list[i].Warmup, list[i].Total = 2, 100, 500
	}
	return list
}

// Rates at the places where they can be said by hand: the first, on the way up, the peak, a quarter and half of the way
// down, the last, and behind it. cos(pi/4) and cos(pi/3) are sqrt(1/2) and 1/2.
func TestScheduleByHand(t *testing.T) {
	quarter := (1 + math.Sqrt(0.5)) / 2 // of half a cosine is left after a quarter of its time
	for _, c := range []struct {
		kind  string
		final float64
		want  map[int]float64 // shares of the peak
	}{
		{Noam, 0, map[int]float64{1: 0.01, 50: 0.5, 100: 1, 400: 0.5, 2500: 0.2}},
		{Cosine, 0, map[int]float64{1: 0.01, 50: 0.5, 100: 1, 200: quarter, 300: 0.5, 500: 0, 501: 0, 10000: 0}},
		{Cosine, 0.1, map[int]float64{1: 0.01, 100: 1, 200: 0.1 + 0.9*quarter, 300: 0.55, 500: 0.1, 501: 0.1, 10000: 0.1}},
		{Linear, 0, map[int]float64{1: 0.01, 99: 0.99, 100: 1, 200: 0.75, 300: 0.5, 499: 0.0025, 500: 0, 501: 0}},
		{Linear, 0.2, map[int]float64{1: 0.01, 100: 1, 200: 0.8, 300: 0.6, 500: 0.2, 501: 0.2}},
		{OneCycle, 0, map[int]float64{1: 0.04, 34: 0.04 + 0.96/4, 67: 0.04 + 0.96*3/4, 100: 1, 200: 4e-6 + (1-4e-6)*quarter, 300: (1 + 4e-6) / 2, 500: 4e-6, 501: 4e-6}},
		{Constant, 0, map[int]float64{1: 0.01, 99: 0.99, 100: 1, 101: 1, 500: 1, 501: 1}},
	} {
		s := Schedule{Kind: c.kind, Peak: 2, Warmup: 100, Total: 500, Final: c.final}
		for update, want := range c.want {
			if got := s.Rate(update) / s.Peak; !(math.Abs(got-want) <= 1e-15) { // a few roundings of numbers up to 1
				t.Errorf("%v: update %d has %v of the peak, want %v", s, update, got, want)
			}
		}
	}
}

// Peak, end, and what lies behind it are exact, whatever the numbers are; up to the peak a rate never falls, and behind
// it it never rises. A warm-up may be 1 update, end the run, or be longer than it.
func TestScheduleRisesAndFalls(t *testing.T) {
	for _, s := range kinds() {
		for _, warmup := range []int{1, 2, 3, 7, 77, 333, 500, 1000} {
			s.Warmup, s.Peak = warmup, 1./3
			for update := 1; update < 1200; update++ {
				before, now := s.Rate(update), s.Rate(update+1)
				switch {
				case !(before >= 0 && before <= s.Peak):
					t.Fatalf("%+v: update %d has %v", s, update, before)
				case update == warmup && !(s.Ends() && warmup > s.Total) && before != s.Peak:
					t.Fatalf("%+v: the peak is %v", s, before)
				case s.Ends() && update >= s.Total && now != before:
					t.Fatalf("%+v: behind its end it goes from %v to %v", s, before, now)
				case update < warmup && now < before || update >= warmup && now > before*(1+1e-15): // a rounding
					t.Fatalf("%+v: update %d has %v, and then %v", s, update, before, now)
				}
			}
			if last := s.Rate(s.Total); s.Ends() && s.Kind != OneCycle && warmup < s.Total && last != s.Final*s.Peak {
				t.Errorf("%+v: it ends at %v", s, last)
			}
		}
	}
}

// Half a cosine and a line have the same area, half of what lies between their ends: both are symmetric. So the sums of
// rates, over the way up and the way down with both ends of each, are known.
func TestScheduleAreas(t *testing.T) {
	for _, s := range kinds() {
		if !s.Ends() {
			continue
		}
		first, last := s.Rate(1)/s.Peak, s.Rate(s.Total)/s.Peak
		up, down := 0.0, 0.0
		for update := 1; update <= s.Warmup; update++ {
			up += s.Rate(update)
		}
		for update := s.Warmup; update <= s.Total; update++ {
			down += s.Rate(update)
		}
		for _, c := range []struct{ got, want float64 }{
			{up / s.Peak, 100 * (first + 1) / 2}, {down / s.Peak, 401 * (1 + last) / 2},
		} {
			if !(math.Abs(c.got-c.want) <= 1e-12*c.want) { // 401 roundings of half a unit of 1e-16 each
				t.Errorf("%+v: a sum of %v, want %v", s, c.got, c.want)
			}
		}
	}
}

// PyTorch's OneCycleLR(max_lr, total_steps=t, pct_start=w/t, cycle_momentum=False), as its documentation and source
// have it: steps from 0, and a cosine from start to end over each phase.
func TestOneCycleIsPyTorchs(t *testing.T) {
	cosine := func(start, end, part float64) float64 { return end + (start-end)/2*(math.Cos(math.Pi*part)+1) }
	for _, c := range []struct{ w, t float64 }{{150, 500}, {2, 3}, {30, 1000}} {
		s := Schedule{Kind: OneCycle, Peak: 3e-3, Warmup: int(c.w), Total: int(c.t)}
		initial := s.Peak / 25
		for step := range s.Total {
			n := float64(step)
			want := cosine(initial, s.Peak, n/(c.w-1))
			if n > c.w-1 {
				want = cosine(s.Peak, initial/1e4, (n-(c.w-1))/(c.t-1-(c.w-1)))
			}
			if got := s.Rate(step + 1); !(math.Abs(got-want) <= 1e-15*s.Peak) { // a few roundings of the peak
				t.Errorf("%v: update %d has %v, want %v", s, step+1, got, want)
			}
		}
	}
}

// The usual schedule has the rates that it always had, to the bit.
func TestNoamIsAsItWas(t *testing.T) {
	for _, peak := range []float64{1e-3, 5e-4, 2} {
		for _, warmup := range []int{1, 20, 1000} {
			s := Schedule{Kind: Noam, Peak: peak, Warmup: warmup}
			for update := 1; update < 3000; update += 7 {
				u, w := float64(update), float64(warmup)
				if got, want := s.Rate(update), peak*min(u/w, math.Sqrt(w/u)); got != want {
					t.Fatalf("%v: update %d has %v, want %v", s, update, got, want)
				}
			}
		}
	}
}
