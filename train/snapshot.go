package train

import (
	"errors"
	"fmt"
	"io"
	"math"

	"konkanitrain/device"
	"konkanitrain/device/cuda"
	"konkanitrain/engine"
	"konkanitrain/internal/words"
	"konkanitrain/model"
	"konkanitrain/update"
)

// ErrCardLost says that the run was stopped because its card failed, after what there was to save had been saved: the
// driver lets no program go on whose kernel has failed, and nothing can be read from the card any more.
var ErrCardLost = errors.New("the card failed")

// snapshot is a copy of a run on the host: weights, moments, averages, and the state of that update. From it a run is
// saved whose card has failed. There is one, so a card that fails while it is taken leaves none.
type snapshot struct {
	parts []copyOf // by engine.Flat
	state state
	whole bool // the parts hold what belongs to state
}

// copyOf is the copy of a flat buffer.
type copyOf struct {
	buffer     device.Buffer
	parameters []model.Parameter // that it holds: weights of all, the others of those that learn
	offsets    map[string]int64  // of each of them, in bytes
}

// newSnapshot has the memory for a copy, all of it: there is none to be had when it is needed. Without memory the error
// wraps *device.OutOfMemory.
func newSnapshot(host device.Device, m memory) (*snapshot, error) {
	s := &snapshot{}
	lists := [][]model.Parameter{m.parameters, m.learned, m.learned}
	if m.averages {
		lists = append(lists, m.learned)
	}
	for _, parameters := range lists {
		c := copyOf{parameters: parameters, offsets: map[string]int64{}}
		bytes := int64(0)
		for _, p := range parameters {
			c.offsets[p.Name] = bytes
			bytes += parameterBytes(p)
		}
		var err error
		if c.buffer, err = host.Alloc(bytes, "copies of weights and moments"); err != nil {
			s.free()
			return nil, err
		}
		s.parts = append(s.parts, c)
	}
	return s, nil
}

// parameterBytes is what Export writes of a parameter.
func parameterBytes(p model.Parameter) int64 {
	n := int64(4) // of a float32
	for _, size := range p.Shape {
		n *= int64(size)
	}
	return n
}

func (s *snapshot) free() {
	if s == nil {
		return
	}
	for _, c := range s.parts {
		if c.buffer != nil {
			c.buffer.Free()
		}
	}
}

// take copies what a replica holds, and the state that goes with it. Weights that are not finite numbers are not worth
// a copy: the one before stays.
func (s *snapshot) take(replica update.Replica, now state) error {
	odd, err := replica.Finite()
	if err == nil && odd == nil {
		// A card that has failed already says so before anything is overwritten.
		err = replica.Export(engine.Weights, s.parts[engine.Weights].parameters[0].Name, io.Discard)
	}
	if odd != nil || err != nil {
		return err
	}
	s.whole = false
	for of, c := range s.parts {
		for _, p := range c.parameters {
			if err := replica.Export(engine.Flat(of), p.Name, io.NewOffsetWriter(c.buffer, c.offsets[p.Name])); err != nil {
				return fmt.Errorf("the copy of %s on the host: %w", p.Name, err)
			}
		}
	}
	s.state, s.whole = now, true
	return nil
}

// updates is the update that the copy is of; less than any without one.
func (s *snapshot) updates() int {
	if s == nil || !s.whole {
		return math.MinInt
	}
	return s.state.Progress.Updates
}

// copied is a replica whose card has failed, with the weights and moments of a copy in place of its own. It can be
// saved, and that is all.
type copied struct {
	update.Replica
	*snapshot
}

// Export writes a parameter's part of the copy.
func (c *copied) Export(of engine.Flat, name string, w io.Writer) error {
	if int(of) < len(c.parts) {
		for _, p := range c.parts[of].parameters {
			if p.Name == name {
				_, err := io.Copy(w, io.NewSectionReader(c.parts[of].buffer, c.parts[of].offsets[name], parameterBytes(p)))
				return err
			}
		}
	}
	return fmt.Errorf("the copy has no parameter %s in buffer %d", name, of)
}

// Finite has been looked at when the copy was taken.
func (c *copied) Finite() (*engine.NotFinite, error) { return nil, nil }

// prepareSnapshot makes room for copies, where the run takes any.
func (r *run) prepareSnapshot() (err error) {
	if r.onCard() && r.cfg.Run.SnapshotEvery > 0 && !r.cfg.Run.measuring() {
		if r.snapshot, err = newSnapshot(r.host, r.ledger.memory); err != nil {
			var oom *device.OutOfMemory
			if errors.As(err, &oom) {
				oom.Advice = "this is memory of the host, not of the card; --snapshot_every 0 does without the copy from which a run is saved whose card fails"
				err = lacking(err)
			}
		}
	}
	return err
}

// copyState takes a copy where one is due: after so many updates, or a validation, that neither the last copy nor the
// last checkpoint has.
func (r *run) copyState() error {
	s, l := r.snapshot, r.ledger
	if s == nil || l.standing == saved {
		return nil
	}
	n, have := r.updater.Updates, max(s.updates(), l.onDisk)
	if n < have+r.cfg.Run.SnapshotEvery && !(l.state.Judged == n && s.state.Judged != n) {
		return nil
	}
	return s.take(r.replica, l.state)
}

// lost says that an error is that of a card whose context is gone.
func lost(err error) bool { return errors.Is(err, cuda.ErrLost) }

// rescue saves a run whose card has failed from the last copy, unless the last checkpoint is as new, and says what is
// made again, and how. err is what the card said.
func (r *run) rescue(err error) error {
	l, made := r.ledger, r.updater.Updates
	err = fmt.Errorf("%w: %w", ErrCardLost, err)
	if r.cfg.Run.measuring() {
		return err
	}
	if s := r.snapshot; s != nil && s.updates() >= l.onDisk && s.whole && l.standing != saved {
		l.memory.replica = &copied{r.replica, s}
		l.state, l.good, l.standing = s.state, s.state, ahead
		l.nameBest()
		if failed := l.save(false); failed != nil {
			return fmt.Errorf("%w\nupdate %d, of which there is a copy, is not saved: %w", err, s.updates(), failed)
		}
	}
	switch again := made - l.onDisk; {
	case l.newest == "":
		return fmt.Errorf("%w\nthere is neither a checkpoint nor a copy (snapshot_every %d): begin anew", err, r.cfg.Run.SnapshotEvery)
	case !l.inside(l.newest):
		return l.withNewest(err)
	default:
		return fmt.Errorf("%w\nupdate %d is saved in %s; %s made again: %s", err, l.onDisk, l.newest, areMade(again), r.ledger.resumeCommand(""))
	}
}

// areMade is "3 updates are", "1 update is" or "no update is".
func areMade(n int) string {
	switch n {
	case 0:
		return "no update is"
	case 1:
		return "1 update is"
	}
	return words.Count(n, "update") + " are"
}
