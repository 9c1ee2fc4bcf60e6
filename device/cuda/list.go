//go:build gpu

package cuda

/*
#include "list.h"
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"unsafe"

	"gorgonia.org/cu"
)

// list is launches whose operands have addresses. All that the driver reads lies in C's memory: queuing it is one call.
type list struct {
	card  *card
	names []string // of launches, for errors
	count Counters // of one run, without a graph

	launches  *C.launch
	arguments unsafe.Pointer // the cells of all kernels, then where each cell lies

	runs   int
	freed  bool
	single bool // no graph: there is none to be had
	graph  C.CUgraphExec
	bytes  int64 // of the graph, about
}

// cell is the size of an argument: the driver reads as many of its low bytes as it needs.
const cell = 8

// Bind checks launches and looks their kernels up.
func (c *card) Bind(launches []Launch, at func(i int, r Ref) Address) (List, error) {
	l := &list{card: c}
	err := c.on(func() error { return l.bind(launches, at) })
	if err != nil {
		l.release()
		return nil, err
	}
	return l, nil
}

// bind fills the memory that the driver will read.
func (l *list) bind(launches []Launch, at func(i int, r Ref) Address) error {
	arguments := 0
	for i := range launches {
		if err := launches[i].Check(); err != nil {
			return err
		}
		arguments += len(launches[i].Args)
	}
	l.launches = (*C.launch)(C.calloc(C.size_t(len(launches)+1), C.sizeof_launch))
	l.arguments = C.calloc(C.size_t(2*arguments+1), cell)
	cells := unsafe.Slice((*uint64)(l.arguments), arguments)
	pointers := unsafe.Slice((*unsafe.Pointer)(unsafe.Add(l.arguments, cell*arguments)), arguments)
	bound := unsafe.Slice(l.launches, len(launches))
	for i := range launches {
		work := &launches[i]
		address := func(r Ref) C.uint64_t { return C.uint64_t(at(i, r)) }
		l.names = append(l.names, work.Name())
		switch {
		case work.Product != nil:
			l.count.Products++
			C.set_product(&bound[i], product(work.Product, address))
		case work.Clear != nil:
			l.count.Clears++
			C.set_clear(&bound[i], C.CUdeviceptr(address(work.Clear.Ref)), C.size_t(work.Clear.Bytes))
		default:
			l.count.Launches++
			f, err := l.card.function(work.Kernel)
			if err != nil {
				return err
			}
			n := len(work.Args)
			for k, a := range work.Args {
				cells[k] = a.Bits
				if a.Pointer != nil {
					cells[k] = uint64(address(*a.Pointer))
				}
				pointers[k] = unsafe.Pointer(&cells[k])
			}
			g := work.Blocks()
			var first *unsafe.Pointer
			if n > 0 {
				first = &pointers[0]
			}
			C.set_kernel(&bound[i], *(*C.CUfunction)(unsafe.Pointer(&f)), C.uint(g[0]), C.uint(g[1]), C.uint(g[2]),
				C.uint(work.Block), C.uint(work.Shared), first)
			cells, pointers = cells[n:], pointers[n:]
		}
	}
	return nil
}

// run queues the launches. The first time they go one by one, so that all that they need is loaded; the second time
// they become a graph, and a list that runs but once costs none.
func (l *list) run() error {
	c := l.card
	n := C.int(len(l.names))
	switch {
	case l.freed:
		return errors.New("a list of launches is queued that was freed")
	case n == 0:
		return nil
	}
	if l.runs++; l.runs > 1 && l.graph == nil && !l.single {
		l.capture()
	}
	if l.graph != nil {
		if err := driverError("cuGraphLaunch", "", int(C.cuGraphLaunch(l.graph, stream(c.work)))); err != nil {
			return err
		}
	} else {
		var at, waiting C.int
		code := C.list_run(l.launches, n, stream(c.work), c.blas.handle, flag(c.sync), &at, &waiting)
		if code != 0 {
			return l.failed(int(at), int(code), waiting != 0)
		}
	}
	c.count(func(n *Counters) {
		n.Launches += l.count.Launches
		n.Products += l.count.Products
		n.Clears += l.count.Clears
		if l.graph != nil {
			n.Graphs++
		}
		if c.sync {
			n.Synchronizations += int64(l.Launches())
		}
	})
	return nil
}

// failed is the error of launch number at: what queued it returned code, or the wait behind it.
func (l *list) failed(at, code int, waiting bool) error {
	name := l.names[at]
	switch {
	case waiting:
		return driverError("cuStreamSynchronize", name, code)
	case name == productName:
		return l.card.productError(code)
	case name == clearName:
		return driverError("cuMemsetD8Async", "", code)
	case fromKernels(code): // of another kernel
		return driverError("cuLaunchKernel", "", code)
	}
	return driverError("cuLaunchKernel", name, code)
}

// A graph takes memory of the card that no call foretells: some nodeBytes a launch. All graphs together have one part
// in graphsMay of the card at most. They leave one in graphsLeave free: code that the driver loads later needs some of
// it, and fails where there is none.
const (
	nodeBytes   = 10 << 10
	graphsMay   = 64
	graphsLeave = 128
)

// capture makes a graph of the list, where that is to be had. Where it isn't because of memory, only this list goes
// without; else the driver has no graphs, and no list has.
func (l *list) capture() {
	c := l.card
	if !c.Info().Graphs {
		l.single = true
		return
	}
	bytes := nodeBytes * int64(len(l.names))
	free, total, err := cu.MemInfo()
	if err == nil && (free < total/graphsLeave || c.Counters().GraphBytes+bytes > total/graphsMay) {
		l.single = true
		return
	}
	code := int(C.list_capture(l.launches, C.int(len(l.names)), stream(c.work), c.blas.handle, &l.graph))
	if code == 0 {
		if left, _, failed := cu.MemInfo(); err == nil && failed == nil {
			bytes = max(bytes, free-left)
		}
		l.bytes = bytes
		c.count(func(n *Counters) { n.GraphBytes += bytes })
		return
	}
	l.single, l.graph = true, nil
	if code != codeOutOfMemory {
		c.mu.Lock()
		c.info.Graphs = false
		c.mu.Unlock()
	}
}

// Launches is how many calls a run costs without a graph.
func (l *list) Launches() int { return len(l.names) }

// Free forgets the graph and the arguments.
func (l *list) Free() {
	l.card.on(func() error {
		if l.graph != nil {
			C.cuGraphExecDestroy(l.graph)
			l.graph = nil
			l.card.count(func(n *Counters) { n.GraphBytes -= l.bytes })
		}
		l.freed = true
		return nil
	})
	l.release()
}

// release gives C's memory back.
func (l *list) release() {
	C.free(unsafe.Pointer(l.launches))
	C.free(l.arguments)
	l.launches, l.arguments, l.names = nil, nil, nil
}

// stream is a stream of package cu as this package's C code has it.
func stream(s cu.Stream) C.CUstream { return C.CUstream(unsafe.Pointer(s.C())) }

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
