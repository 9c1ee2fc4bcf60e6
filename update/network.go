package update

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"konkanitrain/engine"
	"konkanitrain/model"
	"konkanitrain/op"
)

// Variant names a program of a network: a batch shape, and what is computed for it.
type Variant struct {
	model.Shape
	model.Purpose
	Half      bool // store what the backward pass needs as float16
	Recompute engine.Recompute
	Memory    bool // of scoring: what the decoder's steps read of the encoder comes out too
}

// Replica is a replica of a network of package model.
type Replica = engine.Replica[Variant]

// Names of the programs' outputs.
const (
	outCTC    = "ctc"    // [B] nats
	outInter  = "inter"  // [B] nats, of the CTC head behind the middle block, where that counts
	outCE     = "ce"     // [B] nats, with a decoder
	outLogits = "logits" // [B, S, V] of the CTC head, without a backward pass; of a step [1, R, V] of the decoder
)

// outKeys and outValues are those of decoder block n: [B, S, d] of the encoder, or of a step [1, R, d].
func outKeys(n int) string   { return fmt.Sprint("keys.", n) }
func outValues(n int) string { return fmt.Sprint("values.", n) }

// late are the inputs that are known last: seeds and scale depend on the updates before.
var late = []string{model.Seeds, model.Scale}

// network tells the engine what it has to know of a network.
type network struct {
	target     op.Target
	config     model.Config
	tuning     Tuning
	parameters []engine.Parameter
	starts     map[string]model.Parameter
	tables     *model.Tables
}

// NetworkOn is a network of package model as the engine sees it: what replicas on a target are made of. It learns as
// the tuning says.
func NetworkOn(target op.Target, c model.Config, t Tuning) (engine.Network[Variant], error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	n := &network{target: target, config: c, tuning: t, starts: map[string]model.Parameter{}, tables: model.NewTables(c.DModel)}
	for _, p := range model.Parameters(c) {
		n.parameters = append(n.parameters, engine.Parameter{
			Name: p.Name, Shape: p.Shape, Decay: p.Decay, OwnDecay: t.Decay(p.Name), Frozen: t.Frozen(p.Name), Scale: t.Scale(p.Name),
		})
		n.starts[p.Name] = p
	}
	return n, nil
}

// Parameters are those of the network, in their order.
func (n *network) Parameters() []engine.Parameter { return n.parameters }

// Averages says whether averages of what learns are kept.
func (n *network) Averages() bool { return n.tuning.Averages }

// Start fills values with a parameter's start values.
func (n *network) Start(name string, seed uint64, values []float32) {
	n.starts[name].Init(values, seed)
}

// Table is one of the network's constant tables.
func (n *network) Table(name string, shape tensor.Shape) []float32 {
	return n.tables.Shared(name, shape)
}

// Tables are all of them.
func (n *network) Tables() [][]float32 { return n.tables.Whole() }

// TableBytes is what the tables take.
func (n *network) TableBytes() int64 { return n.tables.Bytes() }

// Spec builds the graph of a variant and says what is asked of it.
func (n *network) Spec(v Variant) (engine.Spec, error) {
	net, err := model.Build(n.config, v.Shape, v.Purpose)
	if err != nil {
		return engine.Spec{}, fmt.Errorf("the network for %+v: %w", v.Shape, err)
	}
	spec := engine.Spec{Target: n.target, Weights: net.Weights, Shared: net.Shared, Outputs: map[string]*gorgonia.Node{}, Late: late}
	for _, l := range []struct {
		name string
		node *gorgonia.Node
	}{{outCTC, net.CTC}, {outInter, net.Inter}, {outCE, net.CE}} {
		if l.node != nil {
			spec.Outputs[l.name] = l.node
			spec.Losses = append(spec.Losses, l.name)
		}
	}
	if v.Purpose != model.Training {
		spec.Outputs[outLogits] = net.Logits
		if v.Purpose != model.Scoring || v.Memory {
			for i := range net.Keys {
				spec.Outputs[outKeys(i)], spec.Outputs[outValues(i)] = net.Keys[i], net.Values[i]
			}
		}
		return spec, nil
	}
	spec.Loss, spec.Half, spec.Recompute = net.Loss, v.Half, v.Recompute
	for _, w := range net.Weights {
		if !n.tuning.Frozen(w.Name()) {
			spec.Learned = append(spec.Learned, w)
		}
	}
	// Of the backward pass only what leads to these is compiled: it ends at the lowest of them.
	spec.Grads = net.Graph.Grad(net.Loss, spec.Learned...)
	if err := net.Graph.Err(); err != nil {
		return engine.Spec{}, fmt.Errorf("the gradient for %+v: %w", v.Shape, err)
	}
	return spec, nil
}
