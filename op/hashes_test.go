package op

import (
	"fmt"

	G "gorgonia.org/gorgonia"
)

// uniqueHashes says whether Gorgonia's own machines may run the graph: they know nodes by their 32-bit hash, and would
// compute one of two nodes that share it. In a graph of 1600 nodes that happens once in some 3000 shapes. Our engine
// knows nodes by identity and doesn't care; wrong merges while a graph is built are caught by [Apply].
func (g *Graph) uniqueHashes() error {
	owners := make(map[uint32]*G.Node, len(g.AllNodes()))
	for _, n := range g.AllNodes() {
		hash := n.Hashcode()
		if owner, taken := owners[hash]; taken {
			return fmt.Errorf("hash %#08x is that of node %d, %v, and of node %d, %v", hash, owner.ID(), owner, n.ID(), n)
		}
		owners[hash] = n
	}
	return nil
}
