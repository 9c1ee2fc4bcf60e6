package engine

// halfLeast is the smallest block, in words, that is worth storing in half precision.
const halfLeast = 1024

// half is the pass behind Spec.Half: a block that the forward pass writes and the backward pass reads is kept
// as float16 between its last forward use and its first backward use, in half the memory. Products and all
// other arithmetic stay in float32.
//
//	block:  write ... last forward read | half.store ~~~~~~~~ half.load | backward reads
func (c *compiler) half() error {
	if !c.spec.Half || c.spec.Grads == nil {
		return nil
	}
	type use struct{ forward, backward int } // last forward and first backward step that touches a block
	uses := make([]use, len(c.blocks))
	for k := range uses {
		uses[k] = use{-1, forever}
	}
	for i, s := range c.prog.Steps {
		for _, o := range append([]Operand{s.Out}, s.In...) {
			if o.Space != Arena {
				continue
			}
			if u := &uses[o.Block]; !s.Backward {
				u.forward = i
			} else {
				u.backward = min(u.backward, i)
			}
		}
	}
	after, before := map[int][]Step{}, map[int][]Step{}
	loaded := map[int]int{} // block -> the block that holds it in the backward pass
	for k, b := range c.blocks[:len(uses)] {
		u := uses[k]
		if b.First < 0 || b.Last == forever || b.Size < halfLeast || u.forward < 0 || u.backward == forever || u.backward-u.forward < 3 {
			continue
		}
		full := Operand{Block: k, Shape: []int{b.Size}}
		stored := Operand{Block: c.block(b.Name+" half", halfWords(b.Size), u.forward, u.backward), Shape: []int{halfWords(b.Size)}}
		again := Operand{Block: c.block(b.Name+" again", b.Size, u.backward, b.Last), Shape: []int{b.Size}}
		loaded[k] = again.Block
		c.blocks[k].Last = u.forward
		after[u.forward] = append(after[u.forward], Step{Op: storeHalf(b.Size), Out: stored, In: []Operand{full}, Scratch: -1})
		before[u.backward] = append(before[u.backward], Step{Op: loadHalf(b.Size), Out: again, In: []Operand{stored}, Scratch: -1, Backward: true})
	}
	for i := range c.prog.Steps {
		s := &c.prog.Steps[i]
		if !s.Backward {
			continue
		}
		for _, o := range append([]*Operand{&s.Out}, pointers(s.In)...) {
			if k, ok := loaded[o.Block]; ok && o.Space == Arena {
				o.Block = k
			}
		}
	}
	c.insert(before, after)
	return nil
}
