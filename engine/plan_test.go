package engine

import (
	"fmt"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

func TestPlanText(t *testing.T) {
	p := NewPlan([]Block{
		{"features", 320, -1, 1},
		{"a", 100, 0, 3},
		{"b", 17, 1, 2},
		{"gap", 64, 2, 4},
		{"loss", 1, 4, forever},
		{"nothing", 0, 3, 3},
		{"c", 300, 3, 5},
	})
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan.txt", p.String())
}

func TestCheckSeesWhatIsWrong(t *testing.T) {
	blocks := []Block{{"a", 16, 0, 2}, {"b", 16, 2, 3}}
	for _, c := range []struct {
		offsets []int
		size    int
		says    string
	}{
		{[]int{0, 16}, 32, ""},
		{[]int{0, 0}, 32, "overlap"},
		{[]int{0, 8}, 32, "not on a cache line"},
		{[]int{0, 16}, 31, "outside"},
		{[]int{-16, 16}, 32, "outside"},
	} {
		err := Plan{Blocks: blocks, Offsets: c.offsets, Size: c.size}.Check()
		if got := fmt.Sprint(err); err == nil != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("offsets %v in %d words: error is %v, want %q", c.offsets, c.size, err, c.says)
		}
	}
}

// checkPlan holds a plan to its promises, step by step rather than pair by pair as Plan.Check does.
func checkPlan(t *testing.T, blocks []Block) {
	t.Helper()
	p := NewPlan(blocks)
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	most := 0
	for step := -1; step < 40; step++ {
		owner, live := map[int]int{}, 0 // cache line -> block
		for i, b := range blocks {
			if step < b.First || step > b.Last {
				continue
			}
			live += aligned(b.Size)
			if p.Offsets[i] < 0 || p.Offsets[i]%align != 0 || p.Offsets[i]+b.Size > p.Size {
				t.Fatalf("block %d lies at %d of %d words", i, p.Offsets[i], p.Size)
			}
			for line := p.Offsets[i] / align; line < (p.Offsets[i]+b.Size+align-1)/align; line++ {
				if j, taken := owner[line]; taken {
					t.Fatalf("at step %d blocks %d and %d share the cache line %d", step, j, i, line)
				}
				owner[line] = i
			}
		}
		most = max(most, live)
	}
	if p.Live() != most || p.Size < most {
		t.Fatalf("an arena of %d words, %d live: at most %d live at any step", p.Size, p.Live(), most)
	}
	if again := NewPlan(blocks); again.String() != p.String() {
		t.Fatal("equal blocks gave two plans")
	}
}

// randomBlocks live anywhere within 40 steps, some before the first one, some forever.
func randomBlocks(seed uint64, n int) []Block {
	r := testkit.Rand(seed)
	blocks := make([]Block, n)
	for i := range blocks {
		b := Block{Name: fmt.Sprint(i), Size: r.IntN(200), First: r.IntN(38) - 1}
		b.Last = min(b.First+r.IntN(12), 39)
		if r.IntN(10) == 0 {
			b.Last = forever
		}
		blocks[i] = b
	}
	return blocks
}

func TestPlansOfRandomBlocks(t *testing.T) {
	for seed := range uint64(200) {
		checkPlan(t, randomBlocks(seed, int(seed)))
	}
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte{10, 0, 3, 200, 2, 5, 0, 0, 0, 16, 255, 40})
	f.Fuzz(func(t *testing.T, data []byte) {
		var blocks []Block
		for ; len(data) >= 3 && len(blocks) < 300; data = data[3:] {
			b := Block{Size: int(data[0]), First: int(data[1])%40 - 1}
			b.Last = min(b.First+int(data[2]), 39)
			if data[2] == 255 {
				b.Last = forever
			}
			blocks = append(blocks, b)
		}
		checkPlan(t, blocks)
	})
}

func TestLayout(t *testing.T) {
	l, err := NewLayout([]string{"a", "b", "c"}, shapes([]int{3, 5}, []int{16}, []int{}))
	if err != nil {
		t.Fatal(err)
	}
	if l.Words != 48 || l.Tensors[1].Offset != 16 || l.Tensors[2].Offset != 32 || l.Tensors[2].Words() != 1 {
		t.Errorf("layout is %+v", l)
	}
	flat := make([]float32, l.Words)
	a := l.View(flat, "a")
	if len(a) != 15 || cap(a) != 15 {
		t.Errorf("the view of a has %d words and room for %d, want 15", len(a), cap(a))
	}
	if l.View(flat, "d") != nil {
		t.Error("a view of a parameter that isn't there")
	}
	if _, err := NewLayout([]string{"a", "b", "a"}, shapes([]int{1}, []int{1}, []int{1})); err == nil || !strings.Contains(err.Error(), "two parameters are called a") {
		t.Errorf("error for a name used twice is %v", err)
	}
}
