package update

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data"
	"konkanitrain/engine"
	"konkanitrain/internal/testkit"
	"konkanitrain/model"
)

// lengthsOf are rows of the given frames, each with a token for 8 of them.
func lengthsOf(frames ...int) []data.Length {
	var rows []data.Length
	for _, n := range frames {
		rows = append(rows, data.Length{Frames: n, Tokens: n / 8})
	}
	return rows
}

// Dealings that must never change: another one would give other roundings, and a resumed run other weights.
func TestDealingsAreAsEver(t *testing.T) {
	various := lengthsOf(812, 33, 120, 415, 77, 118, 640, 1205, 90, 415, 256, 300, 7, 0, 201, 55)
	equal := lengthsOf(slices.Repeat([]int{100}, 12)...)
	for _, c := range []struct {
		rows                   []data.Length
		factor, batch, workers int
		want                   string
	}{
		{various, 4, 8, 1, "0:[7] 1x1280,160; 0:[0] 1x832,112; 0:[6] 1x640,80; 0:[3 9] 2x416,56; 0:[14 2 5 8] 4x208,28; 0:[11 10] 2x320,40; 0:[4 15 1 12] 4x80,10"},
		{various, 4, 8, 2, "0:[7] 1x1280,160; 1:[0] 1x832,112; 1:[6] 1x640,80; 1:[3 9] 2x416,56; 0:[14 2 5 8] 4x208,28; 1:[11 10] 2x320,40; 0:[4 15 1 12] 4x80,10"},
		{various, 2, 4, 3, "0:[7] 1x1280,160; 1:[0] 1x832,112; 2:[6] 1x640,80; 2:[3] 1x416,56; 2:[9] 1x416,56; 1:[10 14] 2x256,32; 2:[11] 1x320,40; 1:[2 5 8 4] 4x120,16; 2:[15 1] 2x56,6; 2:[12] 1x8,4"},
		{various, 8, 16, 2, "0:[7] 1x1280,160; 1:[0 6] 2x832,112; 1:[3 9 11 10] 4x416,56; 0:[14 2 5 8 4 15 1 12] 8x208,28"},
		{equal, 4, 8, 2, "0:[0 1 2 3] 4x104,12; 1:[4 5 6 7] 4x104,12; 0:[8 9 10 11] 4x104,12"},
		{equal, 4, 3, 5, "0:[0 1] 2x104,12; 1:[2 3] 2x104,12; 2:[4 5] 2x104,12; 3:[6 7] 2x104,12; 4:[8 9] 2x104,12; 0:[10 11] 2x104,12"},
		{lengthsOf(50), 4, 8, 4, "0:[0] 1x52,6"},
	} {
		net := tinyNetwork(c.factor, 1)
		d := dealer{net: net, batchSize: c.batch, wishes: engine.Wishes{Workers: c.workers, Rows: 256}}
		if got := describe(mustDeal(t, &d, c.rows)); got != c.want {
			t.Errorf("factor %d, batch %d, %d workers:\n%s\nwant\n%s", c.factor, c.batch, c.workers, got, c.want)
		}
	}
}

// mustDeal deals rows for training.
func mustDeal(t testing.TB, d *dealer, rows []data.Length) []microBatch {
	t.Helper()
	batches, err := d.deal(rows, Ask{Purpose: model.Training})
	if err != nil {
		t.Fatal(err)
	}
	return batches
}

// describe writes a dealing down: worker, rows and shape of each micro-batch.
func describe(batches []microBatch) string {
	var s []string
	for _, b := range batches {
		s = append(s, fmt.Sprintf("%d:%v %dx%d,%d", b.worker, b.rows, b.shape.Batch, b.shape.Frames, b.shape.Tokens))
	}
	return strings.Join(s, "; ")
}

// Whatever a window holds: each row is dealt once, shapes hold their rows and are full, and a micro-batch goes to the
// worker with the least to do.
func TestDealing(t *testing.T) {
	r := testkit.Rand(3)
	kept := map[string]*dealer{}
	for range 400 {
		net := tinyNetwork([]int{2, 4, 8}[r.IntN(3)], 1)
		batch, workers := 1+r.IntN(12), 1+r.IntN(5)
		name := fmt.Sprint(net.Subsampling, batch, workers)
		d := kept[name] // some dealers are used again
		if d == nil {
			d = &dealer{net: net, batchSize: batch, wishes: engine.Wishes{Workers: workers, Rows: 1 + r.IntN(300)}}
			kept[name] = d
		}
		rows := make([]data.Length, r.IntN(40))
		present := 0
		for i := range rows {
			rows[i] = data.Length{Frames: max(0, r.IntN(900)-20), Tokens: r.IntN(60)}
			present += min(1, rows[i].Frames)
		}
		batches := mustDeal(t, d, rows)
		fresh := dealer{net: net, batchSize: batch, wishes: d.wishes}
		if again := describe(mustDeal(t, &fresh, rows)); again != describe(batches) {
			t.Fatalf("a dealer that was used deals\n%s\na new one\n%s", describe(batches), again)
		}
		checkDealing(t, d, rows, batches, present)
	}
}

func checkDealing(t *testing.T, d *dealer, rows []data.Length, batches []microBatch, present int) {
	t.Helper()
	seen := map[int]bool{}
	load := make([]float64, d.wishes.Workers)
	last := 0.0
	for i, b := range batches {
		n := len(b.rows)
		if n != b.shape.Batch || n&(n-1) != 0 || n > d.batchSize || n > (present+len(load)-1)/len(load) {
			t.Errorf("a micro-batch of %d rows has shape %+v; at most %d rows", n, b.shape, d.batchSize)
		}
		if n > 1 && n*(model.Shape{Frames: rows[b.rows[0]].Frames}).Encoded(d.net) > d.wishes.Rows {
			t.Errorf("%d rows of up to %d frames are more than the %d rows wished for", n, rows[b.rows[0]].Frames, d.wishes.Rows)
		}
		for _, k := range b.rows {
			if seen[k] || rows[k].Frames == 0 || rows[k].Frames > b.shape.Frames || rows[k].Tokens > b.shape.Tokens {
				t.Errorf("row %d, %+v, is dealt to %+v", k, rows[k], b)
			}
			if rows[k].Frames > rows[b.rows[0]].Frames {
				t.Errorf("row %d is longer than the first of %v", k, b.rows)
			}
			seen[k] = true
		}
		c := Cost(b.shape, d.net)
		if i > 0 && c > last {
			t.Errorf("micro-batch %d costs more than the one before", i)
		}
		for _, other := range load {
			if other < load[b.worker] {
				t.Errorf("micro-batch %d is worker %d's, with %v to do; another has %v", i, b.worker, load[b.worker], other)
			}
		}
		load[b.worker] += c
		last = c
	}
	if len(seen) != present {
		t.Errorf("%d rows of %d were dealt", len(seen), present)
	}
	if len(batches) >= d.wishes.Workers && slices.Min(load) == 0 {
		t.Errorf("a worker has nothing to do: %v for %d micro-batches", load, len(batches))
	}
}

// Buckets pad by an eighth at most of the encoder frames, and by a quarter of the tokens, from 16 and 8 on.
func TestBuckets(t *testing.T) {
	frames, tokens := map[int]bool{}, map[int]bool{}
	for n := 1; n <= 4000; n++ {
		for _, factor := range []int{2, 4, 8} {
			net := tinyNetwork(factor, 1)
			s := bucket(1, n, n, net)
			encoded, least := s.Encoded(net), model.Shape{Frames: n}.Encoded(net)
			if s.Frames < n || encoded < least || encoded*factor != s.Frames || least >= 16 && 8*(encoded-least) >= encoded {
				t.Fatalf("%d frames, factor %d: %d, %d encoder frames of %d", n, factor, s.Frames, encoded, least)
			}
			if s.Tokens < n || n >= 8 && 4*(s.Tokens-n) >= s.Tokens {
				t.Fatalf("%d tokens in %d", n, s.Tokens)
			}
			if factor == 4 {
				frames[s.Frames], tokens[s.Tokens] = true, true
			}
		}
	}
	// Eight steps for each doubling from 8 encoder frames up to 1000, and 4, 5, 6, 7; four from 4 tokens up to 4000.
	if len(frames) != 61 || len(tokens) != 41 {
		t.Errorf("%d lengths in frames and %d in tokens", len(frames), len(tokens))
	}
}
