package train

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"konkanitrain/internal/testkit"
)

// resident is the process's resident memory in bytes; ok is false where the system doesn't say.
func resident() (bytes float64, ok bool) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.Atoi(fields[1])
	return float64(pages * os.Getpagesize()), err == nil
}

// slope is that of the least-squares line through y at 0, 1, 2, ...
func slope(y []float64) float64 {
	n := float64(len(y))
	var sx, sy, sxx, sxy float64
	for i, v := range y {
		x := float64(i)
		sx, sy, sxx, sxy = sx+x, sy+v, sxx+x*x, sxy+x*v
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

// Memory doesn't creep: over 2000 updates on lengths that vary, resident memory stays level, and the number of
// buffers is constant.
func TestMemoryDoesntCreep(t *testing.T) {
	if testing.Short() {
		t.Skip("2000 updates")
	}
	if _, ok := resident(); !ok {
		t.Skipf("%s doesn't say how much memory is resident", runtime.GOOS)
	}
	lines := babble(40, 3, 1)
	r := testkit.Rand(5)
	for i := range lines {
		lines[i].samples = 1600*(2+len(lines[i].text)) + r.IntN(16000)
	}
	cfg := tiny(t, speak(t, lines...))
	cfg.Model = ModelConfig{DModel: 8, EncoderLayers: 1, DecoderLayers: 1, Heads: 1, ConvKernel: 3, Subsampling: 4,
		SubsampleChannels: 2, Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1}
	cfg.Data.NumMels, cfg.Data.FreqWidth = 8, 2
	cfg.Optimise.BatchSize, cfg.Optimise.GradAccum = 2, 1
	cfg.Optimise.MaxUpdates, cfg.Optimise.NumEpochs, cfg.Run.LogEvery = 2000, 1000, 100
	run := start(t, cfg, nil)
	var memory []float64
	buffers, moved := run.dev.Usage().Buffers, 0
	run.hook = func(update int) {
		if n := run.dev.Usage().Buffers; n != buffers {
			moved++
		}
		if update > 200 {
			m, _ := resident()
			memory = append(memory, m)
		}
	}
	if err := run.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	rise := slope(memory)
	t.Logf("%.0f bytes per update, from %.1f MB", rise, memory[0]/1e6)
	if len(memory) != 1800 || rise > 2000 {
		t.Errorf("resident memory rises by %.0f bytes with each of %d updates", rise, len(memory))
	}
	if moved > 0 {
		t.Errorf("the number of buffers changed %d times", moved)
	}
}
