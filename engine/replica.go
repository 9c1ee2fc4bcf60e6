package engine

import (
	"fmt"
	"io"

	"gorgonia.org/tensor"

	"konkanitrain/op"
)

// Network is what a replica has to know of the network that it is a copy of. K names what can be run of it: a batch
// shape, with a backward pass or without.
type Network[K comparable] interface {
	// Parameters are what the network learns, in a fixed order.
	Parameters() []Parameter
	// Spec is the graph of a variant and what is asked of it.
	Spec(key K) (Spec, error)
	// Start fills values with the start values of a parameter, drawn from seed.
	Start(name string, seed uint64, values []float32)
	// Table is the constant table that a shared leaf of this name and shape reads; it is never written to.
	Table(name string, shape tensor.Shape) []float32
	// Averages says that a replica for training keeps an average of the weights that are learned.
	Averages() bool
	// TableBytes is what all tables take, in bytes.
	TableBytes() int64
	// Tables are all of them as they are now, whole: what Table returns is a part of one.
	Tables() [][]float32
}

// Replica is one copy of a network in one memory, ready to run: programs, weights, and for training gradients and the
// optimizer's moments. Whoever is above it sees micro-batches go in and losses come out; weights, gradients and moments
// move as streams only. One goroutine uses a replica at a time.
type Replica[K comparable] interface {
	// Wishes say which batches suit the replica; any other runs too, if it was prepared.
	Wishes() Wishes
	// Prices are what programs take, in the order of keys. Each is compiled for its price once; nothing is allocated.
	Prices(keys []K) ([]Price, error)
	// Prepare compiles what the batches need and makes room for it, and for bytes in each arena at least. It is the one
	// part of a pass that can fail for memory, with an error that wraps *device.OutOfMemory: arenas have the size that
	// they had then, and whatever is to run has to be prepared again.
	Prepare(batches []Batch[K], bytes int64) error
	// MakeTables makes the tables of constants that a program reads, so that it is known what they take.
	MakeTables(key K) error
	// Run makes a pass over batches that were prepared. Gradients are added to those of earlier passes since Reduce.
	// After an error there are none, those of earlier passes included.
	Run(p *Pass[K]) error
	// Reduce sums the gradients of all passes since the last Reduce, in a fixed order, and returns the sum of its
	// squares: of what is learned, as frozen parameters have no gradient.
	Reduce() (squares float64, err error)
	// Update applies one step of AdamW with the gradient that Reduce has left, and takes the new weights into their
	// averages. After an error that is a *BrokenError the replica is good for nothing but Close; after another one
	// nothing has changed.
	Update(s AdamW) error
	// ExchangeAverages has the weights that are learned and their averages change places, so that passes compute with the
	// averages until a second call. In between there are no updates. Nothing is allocated; the error is as for Update.
	ExchangeAverages() error
	// Finite names the first weight that is not a finite number; nil if there is none.
	Finite() (*NotFinite, error)

	// Initialize gives all weights their start values, and zeros to the moments. Averages stay as they are: they begin at
	// 0, and whoever fills the weights imports them.
	Initialize(seed uint64) error
	// Export writes one parameter's part of a flat buffer: float32, little-endian, in row-major order.
	Export(of Flat, name string, w io.Writer) error
	// Import reads what Export wrote.
	Import(of Flat, name string, r io.Reader) error
	// Mean replaces the weights that are learned by their mean with up to n others. load(i) imports the i-th, 0 .. n-1,
	// as FirstMoments; where it fails, that one is left out. Both moments are overwritten, so only a finished run calls
	// it. used lists the i that went in.
	Mean(n int, load func(i int) error) (used []int, err error)

	// ProgramBytes is what the programs that are kept take on the host, in bytes, without what binds them to memory.
	ProgramBytes() int64
	// MachineBytes is what the programs that are kept take on the host once all of them are bound to memory, in bytes.
	MachineBytes() int64
	// Usage is what the replica holds, in bytes.
	Usage() Usage
	// Room is the most bytes that each arena can have beside what else the device holds now; math.MaxInt64 where the
	// device has no limit of its own.
	Room() int64
	// Shrink makes arenas that are larger as small as bytes. What is to run has to be prepared again.
	Shrink(bytes int64)
	// Trim gives back to the system what is idle.
	Trim()
	// Forget drops all programs. What is to run has to be prepared again, and compiled.
	Forget()
	// Measure makes a pass that was prepared, twice, and says what the ops of the second cost. Its gradients are dropped,
	// with those of earlier passes. Nil where nothing can be measured.
	Measure(p *Pass[K]) (*Costs, error)
	// StartProfile measures every pass from now on; Profile is the sum of all workers, nil where nothing is measured.
	StartProfile()
	Profile() *Profile
	// Close frees everything. A second call does nothing.
	Close()
}

// Wishes are what suits a replica.
type Wishes struct {
	Workers int // each takes whole micro-batches; a pass should have work for all of them
	Rows    int // of a batch's matrices that are enough for full speed; more only takes memory
}

// Batch is a micro-batch: what is run, and by which worker.
type Batch[K comparable] struct {
	Key    K
	Worker int // 0 .. Wishes.Workers-1
}

// Pass is one forward, or forward and backward, pass over a window's micro-batches. Fill and Collect are called by
// several workers at a time, each for its own batches; an error ends the worker's part of the pass.
type Pass[K comparable] struct {
	Batches []Batch[K]
	// Fill writes the inputs of batch i, all of them: the last run may have overwritten any.
	Fill func(i int, in Inputs) error
	// Late writes the inputs that Spec.Late names, after Fill, right before the run. Nil where there are none.
	Late func(i int, in Inputs) error
	// Collect reads the outputs of batch i, which are valid during the call.
	Collect func(i int, out Outputs) error
}

// fill writes all inputs of batch i.
func (p *Pass[K]) fill(i int, in Inputs) error {
	if err := p.Fill(i, in); err != nil || p.Late == nil {
		return err
	}
	return p.Late(i, in)
}

// Inputs are a program's inputs in the host's memory, the zero Tensor for a name that it doesn't have.
type Inputs interface{ Input(name string) op.Tensor }

// Outputs are its outputs.
type Outputs interface{ Output(name string) op.Tensor }

// Flat names one of the flat buffers of a replica.
type Flat uint8

// The flat buffers that can be exported, and but for the last also imported.
const (
	Weights       Flat = iota
	FirstMoments       // of AdamW: the running mean of the gradient
	SecondMoments      // of AdamW: the running mean of its square
	Averages           // of the weights, where the network wants them: exponential moving averages
	// Gradients are those of the last Reduce or Learn, with the loss scale and without clipping, of what is learned: they
	// are there until the next pass, an update between them or not, and can't be imported.
	Gradients
)

// AdamW is one step of the optimizer: see [op.NewAdamW] and [op.NewEMA] for the formulas.
type AdamW struct {
	Number    int     // of the update, from 1: it corrects the moments' bias
	LR        float64 // learning rate, of which each parameter has its factor
	GradScale float64 // factor of the gradient: clipping, and the inverse of the loss scale
	Decay     float64 // decoupled weight decay, for parameters that decay: a share of LR
	Share     float64 // of the new weights in their averages; not used without averages
}

// The moments' decay rates and the constant of AdamW (Gulati et al. 2020, section 3.2, train the Conformer with these).
const (
	Beta1   = 0.9
	Beta2   = 0.98
	Epsilon = 1e-9
)

// NotFinite is a weight that is NaN or infinite.
type NotFinite struct {
	Name  string // of the parameter
	Index int    // of the element
	Value float32
}

// String is "NAME[INDEX] is VALUE".
func (n *NotFinite) String() string { return fmt.Sprintf("%s[%d] is %g", n.Name, n.Index, n.Value) }

// BrokenError says that a change of the weights ended in its middle: some weights and moments are those before it,
// others those after it. Nothing can be learned or saved from there, and every further use of the replica gives this
// error.
type BrokenError struct{ Err error } // what ended it

// Error says what that means.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("a change of all weights ended in its middle, so they are of no use any more: %v", e.Err)
}

// Unwrap is what ended it.
func (e *BrokenError) Unwrap() error { return e.Err }

// Usage is what a replica holds, in bytes.
type Usage struct {
	Weights, Gradients, Moments int64
	Averages                    int64
	Arenas                      int64 // of all workers
	Workspaces                  int64 // of the BLAS, of all workers
	Tables                      int64 // constants that programs share
	Pinned                      int64 // of the host's memory, that a card copies from and to; not in Total
}

// Flat is what flat buffers take.
func (u Usage) Flat() int64 { return u.Weights + u.Gradients + u.Moments + u.Averages }

// Total is the sum.
func (u Usage) Total() int64 { return u.Flat() + u.Arenas + u.Workspaces + u.Tables }

// Learner is a replica that makes an update as a whole, without waiting between its parts: one on a card.
type Learner[K comparable] interface {
	Replica[K]
	// Learn makes a pass, sums its gradients and applies one step of AdamW, unless a loss (Spec.Losses) or the gradient
	// is not finite. After an error that is no *BrokenError nothing has changed.
	Learn(p *Pass[K], s Learning) (Learned, error)
	// Stage takes up the inputs of the pass that Learn is asked for next, but the late ones, so that they are on their
	// way while something else is computed: it is for Learning.Meanwhile. The pass must not change until then. False
	// says that this is not possible, and nothing was done.
	Stage(p *Pass[K]) bool
}

// Learning is what Learn is asked for.
type Learning struct {
	AdamW             // GradScale is not used: it follows from the rest
	Clip      float64 // the largest norm of the gradient
	LossScale float64 // factor of the losses, which is taken off the gradient
	Meanwhile func()  // is called once while the card computes; may be nil
}

// Learned is what came of it.
type Learned struct {
	Norm    float64 // of the gradient, without the loss scale and before clipping
	Applied bool    // the weights have changed
}
