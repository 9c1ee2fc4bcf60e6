package export

import (
	"strconv"

	"konkanitrain/internal/onnx"
	"konkanitrain/model"
	"konkanitrain/recognize"
)

// Names of the inputs and outputs of the ONNX graph. The two inputs come in this order, and so do the outputs.
const (
	Samples  = "samples"          // [B, N] float32, sound from -1 to 1 at the model's rate; with Features In
	LogMel   = "features"         // [B, T, bins] float32, log-mel energies, not normalized; with Features Out
	Lengths  = "lengths"          // [B] int64, of the other input: samples or frames
	LogProbs = "log_probs"        // [B, S, V] float32, log probabilities of the CTC head
	Encoded  = "log_probs_length" // [B] int64, each utterance's own of the S
	Logits   = "logits"           // inside: [B, S, V], of which log_probs is the log-softmax
)

// onnxModel is the network as an ONNX file.
func onnxModel(m *recognize.Stored, o Options) ([]byte, error) {
	d := m.Description
	b := onnx.NewBuilder()
	all, err := weights(m)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		var dims []int64
		for _, n := range t.Shape {
			dims = append(dims, int64(n))
		}
		b.Weight(t.Name, dims, t.values)
	}
	batch := onnx.Dim{Name: "B"}
	frames, logmel := "", ""
	if o.Features == In {
		samples := b.Some(b.Input(Samples, onnx.Float, batch, onnx.Dim{Name: "N"}), 2)
		logmel, frames = d.Features.ONNXLogMel(b, samples, b.Input(Lengths, onnx.Int64, batch))
	} else {
		features := b.Input(LogMel, onnx.Float, batch, onnx.Dim{Name: "T"}, onnx.Dim{Size: int64(d.Network.NumMels)})
		logmel, frames = b.Cast(b.Some(features, 3), onnx.Double), b.Input(Lengths, onnx.Int64, batch)
	}
	logits, err := model.ONNX(d.Network, b, d.Features.ONNXNormalized(b, logmel, frames), frames)
	if err != nil {
		return nil, err
	}
	logits = b.Named(Logits, logits)
	b.Named(LogProbs, b.Node("LogSoftmax", []string{logits}, onnx.Set("axis", int64(-1))))
	b.Named(Encoded, b.Subsampled(frames, d.Network.Subsampling))
	graph, err := b.Finish("konkanitrain", o.Weights,
		onnx.Value{Name: LogProbs, Type: onnx.Float, Dims: []onnx.Dim{batch, {Name: "S"}, {Size: int64(d.Network.Vocab)}}},
		onnx.Value{Name: Encoded, Type: onnx.Int64, Dims: []onnx.Dim{batch}})
	if err != nil {
		return nil, err
	}
	file := onnx.Model{
		Producer: "konkanitrain", Version: o.Version, Doc: "Conformer encoder with CTC head: " + d.String(), Graph: graph, Metadata: properties(m, o),
	}
	return file.Encode()
}

// properties are what programs read of the model beside the graph; some names are those that sherpa-onnx asks for.
func properties(m *recognize.Stored, o Options) []onnx.Property {
	d := m.Description
	f := d.Features
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return []onnx.Property{
		{Key: "model_type", Value: slotOf(d).Name},
		{Key: "version", Value: "1"},
		{Key: "model_author", Value: "konkanitrain"},
		{Key: "vocab_size", Value: strconv.Itoa(d.Network.Vocab)},
		{Key: "subsampling_factor", Value: strconv.Itoa(d.Network.Subsampling)},
		{Key: "features", Value: string(o.Features)},
		{Key: "sample_rate", Value: strconv.Itoa(f.SampleRate)},
		{Key: "num_mels", Value: strconv.Itoa(f.NumMels)},
		{Key: "low_hz", Value: number(f.LowHz)},
		{Key: "high_hz", Value: number(f.High())},
		{Key: "sample_scale", Value: number(f.SampleScale)},
		{Key: "weights", Value: string(o.Weights)},
	}
}
