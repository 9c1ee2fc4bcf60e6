package engine

import (
	"fmt"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

func TestPlanText(t *testing.T) {
	p := NewPlan([]Buffer{
		{"features", 1280, -1, 1},
		{"a", 400, 0, 3},
		{"b", 68, 1, 2},
		{"gap", 256, 2, 4},
		{"loss", 4, 4, End},
		{"nothing", 0, 3, 3},
		{"c", 1200, 3, 5},
	})
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan.txt", p.String())
}

func TestCheckSeesWhatIsWrong(t *testing.T) {
	buffers := []Buffer{{"a", 64, 0, 2}, {"b", 64, 2, 3}}
	for _, c := range []struct {
		offsets []int64
		size    int64
		says    string
	}{
		{[]int64{0, 64}, 128, ""},
		{[]int64{0, 0}, 128, "overlap"},
		{[]int64{0, 32}, 128, "not on a cache line"},
		{[]int64{0, 64}, 127, "outside"},
		{[]int64{-64, 64}, 128, "outside"},
	} {
		err := Plan{Buffers: buffers, Offsets: c.offsets, Size: c.size}.Check()
		if got := fmt.Sprint(err); err == nil != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("offsets %v in %d bytes: error is %v, want %q", c.offsets, c.size, err, c.says)
		}
	}
}

// checkPlan holds a plan to its promises, step by step rather than pair by pair as Plan.Check does.
func checkPlan(t *testing.T, buffers []Buffer) {
	t.Helper()
	p := NewPlan(buffers)
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	var most int64
	for step := -1; step < 40; step++ {
		owner, live := map[int64]int{}, int64(0) // cache line -> buffer
		for i, b := range buffers {
			if step < b.First || step > b.Last {
				continue
			}
			live += aligned(b.Size)
			if p.Offsets[i] < 0 || p.Offsets[i]%align != 0 || p.Offsets[i]+b.Size > p.Size {
				t.Fatalf("buffer %d lies at %d of %d bytes", i, p.Offsets[i], p.Size)
			}
			for line := p.Offsets[i] / align; line < (p.Offsets[i]+b.Size+align-1)/align; line++ {
				if j, taken := owner[line]; taken {
					t.Fatalf("at step %d buffers %d and %d share the cache line %d", step, j, i, line)
				}
				owner[line] = i
			}
		}
		most = max(most, live)
	}
	if p.Live() != most || p.Size < most {
		t.Fatalf("an arena of %d bytes, %d live: at most %d live at any step", p.Size, p.Live(), most)
	}
	if again := NewPlan(buffers); again.String() != p.String() {
		t.Fatal("equal buffers gave two plans")
	}
}

// randomBuffers live anywhere within 40 steps, some before the first one, some for ever.
func randomBuffers(seed uint64, n int) []Buffer {
	r := testkit.Rand(seed)
	buffers := make([]Buffer, n)
	for i := range buffers {
		b := Buffer{Name: fmt.Sprint(i), Size: int64(r.IntN(800)), First: r.IntN(38) - 1}
		b.Last = min(b.First+r.IntN(12), 39)
		if r.IntN(10) == 0 {
			b.Last = End
		}
		buffers[i] = b
	}
	return buffers
}

func TestPlansOfRandomBuffers(t *testing.T) {
	for seed := range uint64(200) {
		checkPlan(t, randomBuffers(seed, int(seed)))
	}
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte{10, 0, 3, 200, 2, 5, 0, 0, 0, 16, 255, 40})
	f.Fuzz(func(t *testing.T, data []byte) {
		var buffers []Buffer
		for ; len(data) >= 3 && len(buffers) < 300; data = data[3:] {
			b := Buffer{Size: 4 * int64(data[0]), First: int(data[1])%40 - 1}
			b.Last = min(b.First+int(data[2]), 39)
			if data[2] == 255 {
				b.Last = End
			}
			buffers = append(buffers, b)
		}
		checkPlan(t, buffers)
	})
}

func TestLayout(t *testing.T) {
	l, err := NewLayout([]Parameter{{Name: "a", Shape: []int{3, 5}}, {Name: "b", Shape: []int{16}, Decay: true}, {Name: "c", Shape: []int{}}})
	if err != nil {
		t.Fatal(err)
	}
	if l.Bytes != 192 || l.Tensors[1].Offset != 64 || l.Tensors[2].Offset != 128 || l.Tensors[2].Bytes() != 4 {
		t.Errorf("layout is %+v", l)
	}
	if b, ok := l.Find("b"); !ok || b.Offset != 64 || !b.Decay || b.Bytes() != 64 {
		t.Errorf("b is %+v, %v", b, ok)
	}
	flat := zeroBytes(l.Bytes)
	a := l.view(flat, "a")
	if len(a) != 60 || cap(a) != 60 {
		t.Errorf("the view of a has %d bytes and room for %d, want 60", len(a), cap(a))
	}
	if l.view(flat, "d") != nil || l.view(flat[:64], "b") != nil {
		t.Error("a view of a parameter that isn't there")
	}
	if _, ok := l.Find("d"); ok {
		t.Error("a parameter that isn't there was found")
	}
	if _, err := NewLayout([]Parameter{{Name: "a"}, {Name: "b"}, {Name: "a"}}); err == nil || !strings.Contains(err.Error(), "two parameters are called a") {
		t.Errorf("error for a name used twice is %v", err)
	}
}
