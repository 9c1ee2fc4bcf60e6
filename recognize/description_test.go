package recognize

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/cut"
	"konkanitrain/data/feature"
	"konkanitrain/data/text"
	"konkanitrain/internal/testkit"
)

// full is a description with everything in it.
func full(t testing.TB) *Description {
	d := described(t)
	d.Policy = text.Policy{KeepJoiners: true, FoldDigits: true}
	d.Features.Normalize, d.Features.SampleRate, d.Features.LowHz = feature.Global, 8000, 40
	d.Features.Stats = &feature.Stats{Frames: 99, Mean: make([]float64, 20), Deviation: make([]float64, 20)}
	for i := range 20 {
		d.Features.Stats.Mean[i], d.Features.Stats.Deviation[i] = float64(i)/3, 1+float64(i)/7
	}
	d.MeanOf = []int{5, 6, 7}
	d.Phrases = &cut.Phrases{Typical: 3, Longest: 11.5, Behind: 0.25}
	d.Score = &Evaluation{WER: 0.25, CER: 0.125, Loss: 3, Took: 12}
	return d
}

// pieced is a description with what format 1 didn't have.
func pieced(t testing.TB) *Description {
	d := full(t)
	p, err := text.TrainBPE(slices.Values([]string{"aab aab b", "bca ca"}), 11, 1)
	if err != nil {
		t.Fatal(err)
	}
	d.Vocabulary = p
	d.Policy = text.Policy{RemovePunctuation: true, LowerCase: true, AllowedCharacters: "a-z U+0900-U+097F"}
	return d
}

// What an older program reads rightly is written for it; what it would misread it refuses.
func TestDescriptionFormat(t *testing.T) {
	spoiled := pieced(t)
	spoiled.Policy.AllowedCharacters = "z-a"
	_, err := spoiled.Encode()
	testkit.MustFail(t, err, "z-a ends before it begins")
	lower := full(t)
	lower.Policy.LowerCase = true
	for want, d := range map[string]*Description{`{"format":1,`: full(t), `{"format":2,`: pieced(t), `"format":2,`: lower} {
		metadata, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		testkit.MustContain(t, metadata["konkanitrain"], want)
	}
	metadata, err := full(t).Encode()
	if err != nil || strings.Contains(metadata["konkanitrain"], "lower_case") {
		t.Errorf("%v, %v", metadata, err)
	}
}

func TestDescriptionComesBack(t *testing.T) {
	for _, want := range []*Description{described(t), full(t), pieced(t)} {
		metadata, err := want.Encode()
		if err != nil || len(metadata) != 1 {
			t.Fatalf("%v, %v", metadata, err)
		}
		got, err := Decode(metadata)
		if err != nil {
			t.Fatal(err)
		}
		if s := want.Score; s != nil {
			score := *s
			score.Took = 0 // the same weights have the same file, however long it took to score them
			want.Score = &score
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
		again, err := got.Encode()
		if err != nil || !maps.Equal(again, metadata) {
			t.Errorf("%v, want %v (%v)", again, metadata, err)
		}
		if strings.Contains(metadata["konkanitrain"], "\n") {
			t.Error("the description is not compact")
		}
	}
	testkit.MustContain(t, full(t).String(), "update 7, ", "parameters", "vocabulary 11", "mean of the weights after updates 5, 6, 7", "validation WER 25.00 % CER 12.50 %")
	d := full(t)
	d.MeanOf = d.MeanOf[:1]
	testkit.MustContain(t, d.String(), "after update 5,")
}

// What makes no model is neither written nor read, and the error says what it is.
func TestDescriptionIsChecked(t *testing.T) {
	for want, spoil := range map[string]func(*Description){
		"no vocabulary":                    func(d *Description) { d.Vocabulary = nil },
		"for a vocabulary of 12 entries, ": func(d *Description) { d.Network.Vocab++ },
		"hears 21 mel bins":                func(d *Description) { d.Network.NumMels++ },
		"heads 3 does not divide":          func(d *Description) { d.Network.Heads = 3 },
		"sample_rate is 5 Hz":              func(d *Description) { d.Features.SampleRate = 5 },
		"there are no statistics":          func(d *Description) { d.Features.Stats = nil },
	} {
		d := full(t)
		spoil(d)
		_, err := d.Encode()
		testkit.MustFail(t, err, want)
	}
	good, err := full(t).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string][2]string{
		"is damaged: unexpected end of JSON":                       {`}]`, ``},
		"is damaged: invalid character":                            {`"network":`, `"network";`},
		"has format 4, this version of konkanitrain reads up to 3": {`"format":1`, `"format":4`},
		"features or text settings are missing":                    {`"features"`, `"feature"`},
		"is damaged: features or text settings are missing":        {`"text"`, `"texts"`},
		"the model's description has no vocabulary":                {`"vocabulary"`, `"words"`},
		"heads is 0": {`"heads":2`, `"heads":0`},
		"d_model is 1000000000000, want an even number":   {`"d_model":16`, `"d_model":1000000000000`},
		"cannot unmarshal number 99999999999999999999999": {`"d_model":16`, `"d_model":99999999999999999999999`},
		"one character": {`"a"`, `"ab"`},
		"the statistics have 0 means and 20 deviations": {`"mean":`, `"means":`},
		"the statistics have 20 means and 0 deviations": {`"deviation":`, `"deviations":`},
		"num_mels is 1000000000":                        {`"num_mels":20`, `"num_mels":1000000000`},
	} {
		changed := strings.Replace(good["konkanitrain"], change[0], change[1], 1)
		if change[1] == "" {
			changed = changed[:len(changed)-1]
		}
		_, err := Decode(map[string]string{"konkanitrain": changed})
		testkit.MustFail(t, err, want)
	}
	_, err = Decode(map[string]string{"format": "pt"})
	if testkit.MustFail(t, err, `no key "konkanitrain"`); !errors.Is(err, ErrNoDescription) {
		t.Errorf("%v is not ErrNoDescription", err)
	}
}

// oldCheckpointState is the state that a run saved before models described themselves, for the description of full.
func oldCheckpointState(t testing.TB) map[string]any {
	d := full(t)
	return map[string]any{
		"format": 1, "parameters": 1, "loss_scale": map[string]any{"scale": 1}, "due": []int{7},
		"config": map[string]any{
			"d_model": 16, "heads": 2, "encoder_layers": 1, "decoder_layers": 1, "conv_kernel": 3, "subsampling": 4, "subsample_channels": 4,
			"num_mels": 20, "dropout": 0.1, "ctc_weight": 0.3, "label_smoothing": 0.1, "sample_rate": 8000, "normalize": "global",
			"keep_joiners": true, "fold_digits": true, "seed": uint64(1<<63 + 3), "path_map": []string{}, "a_key_of_another_version": nil,
		},
		"vocabulary": d.Vocabulary, "feature_stats": d.Features.Stats, "progress": map[string]any{"updates": 7, "epoch": 2},
		"averaged": d.MeanOf, "score": d.Score,
	}
}

func TestDescriptionOfAnOldState(t *testing.T) {
	state := func(spoil func(state, config map[string]any)) json.RawMessage {
		s := oldCheckpointState(t)
		spoil(s, s["config"].(map[string]any))
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	want := full(t)
	want.Features.LowHz, want.Phrases = 20, nil
	got, err := fromState(state(func(_, _ map[string]any) {}))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v (%v)", got, want, err)
	}
	for want, spoil := range map[string]func(state, config map[string]any){
		"has no conv_kernel, keep_joiners": func(_, c map[string]any) { delete(c, "conv_kernel"); delete(c, "keep_joiners") },
		"has format 2 and its model no":    func(s, _ map[string]any) { s["format"] = 2 },
		"no vocabulary":                    func(s, _ map[string]any) { delete(s, "vocabulary") },
		"there are no statistics":          func(s, _ map[string]any) { delete(s, "feature_stats") },
		"state is damaged":                 func(s, _ map[string]any) { s["progress"] = 3 },
		"the checkpoint's configuration:":  func(_, c map[string]any) { c["heads"] = "two" },
		"configuration: json":              func(s, _ map[string]any) { s["config"] = 4 },
		"unexpected end of JSON input":     func(s, _ map[string]any) { delete(s, "config") },
		"subsampling is 3":                 func(_, c map[string]any) { c["subsampling"] = 3 },
	} {
		_, err := fromState(state(spoil))
		testkit.MustFail(t, err, want)
	}
}

func FuzzDecode(f *testing.F) {
	for _, d := range []*Description{described(f), full(f)} {
		metadata, err := d.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(metadata[metadataKey])
	}
	f.Add(`{"format":1,"network":{"d_model":65536,"encoder_layers":1000},"features":{"sample_rate":768000},"text":{}}`)
	f.Fuzz(func(t *testing.T, encoded string) {
		d, err := Decode(map[string]string{metadataKey: encoded})
		if err != nil {
			return
		}
		_ = d.String()
		again, err := d.Encode()
		if err != nil {
			t.Fatalf("%q was read and can't be written: %v", encoded, err)
		}
		if _, err := Decode(again); err != nil {
			t.Fatalf("%q was read and written as %q, which can't be read: %v", encoded, again, err)
		}
	})
}

func FuzzOldState(f *testing.F) {
	b, err := json.Marshal(oldCheckpointState(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, state []byte) {
		d, err := fromState(state)
		if err != nil {
			return
		}
		if _, err := d.Encode(); err != nil {
			t.Fatalf("%q was read and can't be written: %v", state, err)
		}
	})
}

// Another scale of samples and another upper edge of the mel bins are a part of the description, in a format that older
// programs refuse; without them it is what it was before there were such settings.
func TestDescriptionOfOtherFeatures(t *testing.T) {
	plain, err := full(t).Encode()
	if err != nil || strings.Contains(plain[metadataKey], "high_hz") || strings.Contains(plain[metadataKey], "sample_scale") ||
		!strings.Contains(plain[metadataKey], `"format":1,`) {
		t.Errorf("%v, %v", plain, err)
	}
	for _, change := range []func(*feature.Options){
		func(f *feature.Options) { f.HighHz = -400 }, func(f *feature.Options) { f.SampleScale = 1 }, func(f *feature.Options) { f.HighHz, f.SampleScale = 3000, 2.5 },
	} {
		d := full(t)
		change(&d.Features)
		encoded, err := d.Encode()
		if err != nil || !strings.Contains(encoded[metadataKey], `"format":3,`) {
			t.Fatal(encoded, err)
		}
		if back, err := Decode(encoded); err != nil || back.Features.HighHz != d.Features.HighHz || back.Features.SampleScale != d.Features.SampleScale {
			t.Errorf("%+v, want %+v (%v)", back, d, err)
		}
	}
}
