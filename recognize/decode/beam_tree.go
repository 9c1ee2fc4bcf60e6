package decode

import "slices"

// nobody is the number of no node, no place and no token.
const nobody int32 = -1

// node is a prefix: its parent's tokens and one more.
type node struct {
	parent, child, sibling int32 // child is the first one of a list
	token                  int32
	holds                  int32    // its children, and the beam
	entry                  int32    // its place in the beam, or nobody
	ended                  bool     // last is set
	last                   standing // of the model of words if the prefix's last word ends here
	stand
	fused float64 // what models and hotwords add to its score
}

// tree has the prefixes of the beam and all that they begin with. What nobody holds any more is used again.
type tree struct {
	nodes []node
	free  int32 // the first of a list by sibling
}

func (t *tree) reset() { t.nodes, t.free = t.nodes[:0], nobody }

// at is valid until add.
func (t *tree) at(i int32) *node { return &t.nodes[i] }

// add makes a node that nobody holds.
func (t *tree) add(parent, token int32) int32 {
	at := t.free
	if at == nobody {
		at = int32(len(t.nodes))
		t.nodes = append(t.nodes, node{})
	} else {
		t.free = t.nodes[at].sibling
	}
	n := &t.nodes[at]
	*n = node{parent: parent, token: token, child: nobody, sibling: nobody, entry: nobody}
	if parent != nobody {
		p := &t.nodes[parent]
		n.sibling, p.child = p.child, at
		p.holds++
	}
	return at
}

// find is the child of a node by this token, or nobody.
func (t *tree) find(parent, token int32) int32 {
	at := t.nodes[parent].child
	for at != nobody && t.nodes[at].token != token {
		at = t.nodes[at].sibling
	}
	return at
}

func (t *tree) hold(at int32) { t.nodes[at].holds++ }

// release lets go of a node, and of what only it has held.
func (t *tree) release(at int32) {
	for at != nobody {
		n := &t.nodes[at]
		if n.holds--; n.holds > 0 {
			return
		}
		parent := n.parent
		if parent != nobody {
			t.unlink(parent, at)
		}
		n.sibling, t.free = t.free, at
		at = parent
	}
}

// unlink takes a node from its parent's list.
func (t *tree) unlink(parent, at int32) {
	link := &t.nodes[parent].child
	for *link != at {
		link = &t.nodes[*link].sibling
	}
	*link = t.nodes[at].sibling
}

// write appends the tokens of a prefix.
func (t *tree) write(dst []int32, at int32) []int32 {
	from := len(dst)
	for n := &t.nodes[at]; n.parent != nobody; n = &t.nodes[n.parent] {
		dst = append(dst, n.token)
	}
	slices.Reverse(dst[from:])
	return dst
}
