package engine

import (
	"unsafe"

	"konkanitrain/device"
	"konkanitrain/device/cuda"
	"konkanitrain/op"
)

// cardMemory is what a replica on a card holds beside what every replica does.
type cardMemory struct {
	half bool // there is a float16 copy of the weights

	halves  device.Buffer   // that copy, in the same layout: an element lies at half of its offset
	flags   device.Buffer   // for training: which elements decay, see op.CardUpdate
	scratch device.Buffer   // of kernels on flat buffers
	small   device.Buffer   // the constant 1, and for training the constants and the status of a step
	tables  []device.Buffer // copies of the network's tables
	copied  [][]float32     // the tables that these are copies of
}

// Where in cardMemory.small things lie, in bytes.
const (
	oneAt       = 0
	statusAt    = align                      // float64 [op.CardStatus]
	oddAt       = statusAt + op.CardStatus*8 // int32: the first weight that is not finite, or -1
	constantsAt = statusAt + align           // float64 [groups, op.CardConstants]
)

// constantBytes is what the constants of a step take, of all groups.
func constantBytes(l *Layout) int64 { return 8 * op.CardConstants * int64(len(l.Groups)) }

// alloc allocates what has its size from the layout.
func (m *cardMemory) alloc(dev device.Device, l *Layout, train, averages bool) error {
	flat, err := flatCardKernels(l, m.half, train, averages)
	if err != nil {
		return err
	}
	list := []struct {
		to    *device.Buffer
		bytes int64
		what  string
		wants bool
	}{
		{&m.halves, l.Bytes / 2, "weights as float16", m.half},
		{&m.flags, int64(len(decayFlags(l))), "which weights decay", train},
		{&m.scratch, flat.scratch(), "scratch of the optimizer", true},
		{&m.small, constantsAt + constantBytes(l), "constants", true},
	}
	for _, b := range list {
		if !b.wants {
			continue
		}
		if *b.to, err = dev.Alloc(aligned(b.bytes), b.what); err != nil {
			return err
		}
	}
	return nil
}

// flatCard are the kernels on flat buffers of a card.
type flatCard struct{ update, squares, finite, meanAdd op.Kernel }

// flatCardKernels are those for a layout.
func flatCardKernels(l *Layout, half, train, averages bool) (k flatCard, err error) {
	if k.finite, err = op.NewFinite(int(l.Bytes / 4)).Kernel(op.CUDA); err != nil || !train {
		return k, err
	}
	var groups []int
	for _, g := range l.Groups {
		groups = append(groups, int(g.Bytes/4))
	}
	k.update = op.CardUpdate(groups, half, averages)
	n := int(l.Learned / 4)
	if k.squares, err = op.NewReduce(n, 1).Kernel(op.CUDA); err != nil {
		return k, err
	}
	k.meanAdd, err = op.NewMeanAdd(n).Kernel(op.CUDA)
	return k, err
}

// scratch is what the greediest of them needs, in bytes.
func (k flatCard) scratch() int64 {
	return max(k.update.Scratch, k.squares.Scratch, k.finite.Scratch, k.meanAdd.Scratch)
}

// decayFlags are those of op.CardUpdate.
func decayFlags(l *Layout) []byte {
	flags := make([]byte, (l.Learned/4+op.DecayElements-1)/op.DecayElements)
	for _, t := range l.Tensors {
		if t.Decay && !t.Frozen {
			first := t.Offset / 4 / op.DecayElements
			for i := range (t.Bytes()/4 + op.DecayElements - 1) / op.DecayElements {
				flags[first+i] = 1
			}
		}
	}
	return flags
}

// free gives everything back.
func (m *cardMemory) free() {
	freeAll([]device.Buffer{m.halves, m.flags, m.scratch, m.small})
	freeAll(m.tables)
	m.halves, m.flags, m.scratch, m.small, m.tables, m.copied = nil, nil, nil, nil, nil, nil
}

// keepTables makes copies of tables that have none yet, or another one. moved says that there was one.
func (m *cardMemory) keepTables(dev device.Device, tables [][]float32) (moved bool, err error) {
	if len(tables) == len(m.copied) {
		same := true
		for i := range tables {
			same = same && unsafe.SliceData(tables[i]) == unsafe.SliceData(m.copied[i])
		}
		if same {
			return false, nil
		}
	}
	freeAll(m.tables)
	m.tables, m.copied = nil, nil
	for _, t := range tables {
		b, err := dev.Alloc(aligned(4*int64(len(t))), "table of constants")
		if err != nil {
			return true, err
		}
		m.tables, m.copied = append(m.tables, b), append(m.copied, t)
		if _, err := b.WriteAt(bytesOf(t), 0); err != nil {
			return true, err
		}
	}
	return true, nil
}

// table is where a part of a table lies on the card, 0 where there is no copy of it.
func (m *cardMemory) table(part []float32) cuda.Address {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(part)))
	for i, t := range m.copied {
		first := uintptr(unsafe.Pointer(unsafe.SliceData(t)))
		if start >= first && start+4*uintptr(len(part)) <= first+4*uintptr(len(t)) {
			return cuda.AddressOf(m.tables[i]) + cuda.Address(start-first)
		}
	}
	return 0
}
