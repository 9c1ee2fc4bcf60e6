package arenapage

// data is what the page's script reads, as JSON: a table for each program, column by column, because thousands of
// objects would repeat their keys. Each text is there once, and columns of texts hold indices into Texts.
type data struct {
	Texts    []string `json:"texts"`
	Kinds    []string `json:"kinds"`
	Programs []table  `json:"programs"`
}

// table is a program. Step columns have an entry for each step, buffer columns one for each buffer.
type table struct {
	Name string `json:"name"`
	Size int64  `json:"size"` // bytes of the arena
	Peak int    `json:"peak"` // the step at which most is live

	Ops      []int   `json:"ops"`      // step: text
	Places   []int   `json:"places"`   // step: text
	Backward []int   `json:"backward"` // step: 1 in the backward pass, 0 before it
	Live     []int64 `json:"live"`     // step: bytes in use

	Names   []int   `json:"names"`   // buffer: text
	Blocks  []int   `json:"blocks"`  // buffer: text
	Kind    []int   `json:"kind"`    // buffer: index into data.Kinds
	Offsets []int64 `json:"offsets"` // buffer: bytes
	Sizes   []int64 `json:"sizes"`   // buffer: bytes
	First   []int   `json:"first"`   // buffer: step, or -1
	Last    []int   `json:"last"`    // buffer: step, or the number of steps
}

// interner gives each text a number.
type interner struct {
	texts  []string
	number map[string]int
}

func (in *interner) of(text string) int {
	n, known := in.number[text]
	if !known {
		n = len(in.texts)
		in.number[text] = n
		in.texts = append(in.texts, text)
	}
	return n
}

func encode(programs []Program) data {
	in := &interner{number: map[string]int{}}
	var d data
	for _, k := range kinds {
		d.Kinds = append(d.Kinds, k.name)
	}
	for _, p := range programs {
		live := p.live()
		t := table{Name: p.Name, Size: p.Size, Live: live, Peak: peak(live)}
		for _, s := range p.Steps {
			t.Ops = append(t.Ops, in.of(s.Name))
			t.Places = append(t.Places, in.of(place(s.Place)))
			backward := 0
			if s.Backward {
				backward = 1
			}
			t.Backward = append(t.Backward, backward)
		}
		for _, b := range p.Buffers {
			t.Names = append(t.Names, in.of(b.Name))
			t.Blocks = append(t.Blocks, in.of(b.block()))
			t.Kind = append(t.Kind, b.kind())
			t.Offsets = append(t.Offsets, b.Offset)
			t.Sizes = append(t.Sizes, b.Size)
			t.First = append(t.First, b.First)
			t.Last = append(t.Last, min(b.Last, len(p.Steps)))
		}
		d.Programs = append(d.Programs, t)
	}
	d.Texts = in.texts
	return d
}

// live is how many bytes hold data during each step.
func (p Program) live() []int64 {
	change := make([]int64, len(p.Steps)+1)
	for _, b := range p.Buffers {
		change[max(b.First, 0)] += b.Size
		change[min(b.Last, len(p.Steps)-1)+1] -= b.Size // min first: Last may be the largest int
	}
	live, sum := change[:len(p.Steps)], int64(0)
	for i := range live {
		sum += live[i]
		live[i] = sum
	}
	return live
}

// peak is the first step at which most is live.
func peak(live []int64) int {
	most := 0
	for i, bytes := range live {
		if bytes > live[most] {
			most = i
		}
	}
	return most
}
