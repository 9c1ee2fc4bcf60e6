package update

import (
	"fmt"
	"math/bits"

	"konkanitrain/engine"
	"konkanitrain/model"
)

// MostPrefixes is how many prefixes a Step may have.
const MostPrefixes = 32

// Step is one step of the decoder for some prefixes of an utterance. Keys and values of the steps before are the
// caller's: it writes them before the step and takes those of this step after it.
type Step struct {
	Frames int      // feature frames of the utterance
	Memory []Memory // what each decoder block reads of the encoder
	Tokens []int32  // by which each prefix goes on; the first one's is SosEos
	At     []int32  // how many steps each has made before
	// Keep writes what block n has kept of the steps of prefix i into keys and values, [At, d] each.
	Keep func(i, n int, keys, values []float32)
	// Take reads the logits [V] behind prefix i, and what each block has to keep of this step: [d] each.
	Take func(i int, logits []float32, kept []Memory)
}

// Steps makes steps, of several utterances at a time: each worker makes whole ones. What comes out of a step doesn't
// depend on the others. Keep and Take are called by the worker that makes the step. Steps of shapes that were met
// before compile nothing.
func (r *Runner) Steps(steps []Step) error {
	if r.steps == nil {
		r.steps = &stepper{net: r.Net}
		r.steps.pass.Fill, r.steps.pass.Collect = r.steps.fill, r.steps.collect
	}
	s := r.steps
	s.steps, s.pass.Batches = steps, s.pass.Batches[:0]
	workers := r.Replica.Wishes().Workers
	for i := range steps {
		if n := len(steps[i].Tokens); n < 1 || n > MostPrefixes || n != len(steps[i].At) || len(steps[i].Memory) != r.Net.DecoderLayers {
			return fmt.Errorf("step %d: %d prefixes at %d places with the memory of %d blocks: want 1 to %d, as many, and %d",
				i, n, len(steps[i].At), len(steps[i].Memory), MostPrefixes, r.Net.DecoderLayers)
		}
		s.pass.Batches = append(s.pass.Batches, engine.Batch[Variant]{Key: s.variant(&steps[i]), Worker: i % workers})
	}
	if err := r.Replica.Prepare(s.pass.Batches, 0); err != nil {
		r.Replica.Shrink(0) // arenas were as large as the encoder's, and may have left no room for a larger one
		if err := r.Replica.Prepare(s.pass.Batches, 0); err != nil {
			return err
		}
	}
	return r.Replica.Run(&s.pass)
}

// stepper is steps on their way through the replica.
type stepper struct {
	net   model.Config
	pass  engine.Pass[Variant]
	steps []Step
}

// variant is the program of a step. Sizes are powers of two, so that there are few: what is copied and not read costs
// little.
func (s *stepper) variant(step *Step) Variant {
	most := 0
	for _, at := range step.At {
		most = max(most, int(at))
	}
	return Stepped(len(step.Tokens), step.Frames, most, s.net)
}

// Stepped is the program of a step of so many prefixes, of up to so many tokens, of an utterance of so many feature
// frames.
func Stepped(prefixes, frames, tokens int, c model.Config) Variant {
	return Variant{Purpose: model.Stepping, Shape: model.Shape{
		Batch:  powerOfTwo(prefixes, 4),
		Frames: powerOfTwo(model.Shape{Frames: frames}.Encoded(c), 16) * c.Subsampling,
		Tokens: powerOfTwo(tokens, 16),
	}}
}

// powerOfTwo is the least one that is n or more, and least or more.
func powerOfTwo(n, least int) int { return max(least, 1<<bits.Len(uint(max(n, 1)-1))) }

// fill writes the inputs of step i. Where there is no prefix, at is -1 and nothing is read.
func (s *stepper) fill(i int, in engine.Inputs) error {
	step, shape := &s.steps[i], s.pass.Batches[i].Key.Shape
	tokens, at := in.Input(model.StepTokens).Ints, in.Input(model.StepAt).Ints
	for r := range at {
		tokens[r], at[r] = 0, -1
	}
	copy(tokens, step.Tokens)
	copy(at, step.At)
	in.Input(model.StepPrefixes).Ints[0] = int32(len(step.Tokens))
	in.Input(model.Lengths).Ints[0] = int32(step.Frames)
	size := shape.Tokens * s.net.DModel
	for n, m := range step.Memory {
		keys, values := model.MemoryInputs(n)
		copy(in.Input(keys).Data, m.Keys)
		copy(in.Input(values).Data, m.Values)
		keys, values = model.KeptInputs(n)
		k, v := in.Input(keys).Data, in.Input(values).Data
		for r, at := range step.At {
			step.Keep(r, n, k[r*size:][:int(at)*s.net.DModel], v[r*size:][:int(at)*s.net.DModel])
		}
	}
	return nil
}

// collect reads what came out of step i.
func (s *stepper) collect(i int, out engine.Outputs) error {
	step, d, v := &s.steps[i], s.net.DModel, s.net.Vocab
	logits := out.Output(outLogits).Data
	kept := make([]Memory, len(step.Memory))
	for r := range step.Tokens {
		for n := range kept {
			kept[n] = Memory{out.Output(outKeys(n)).Data[r*d:][:d], out.Output(outValues(n)).Data[r*d:][:d]}
		}
		step.Take(r, logits[r*v:][:v], kept)
	}
	return nil
}
