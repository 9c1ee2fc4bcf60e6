package train

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/model"
	"konkanitrain/op"
	"konkanitrain/update"
)

// Compared is what a network takes in memory with one size of micro-batch.
type Compared struct {
	Parameters int
	Rows       int
	// Bytes are weights, gradients, moments and the arena of one worker that takes all rows in one pass, with each way of
	// recompute (none, blocks, all), in float32 and with fp16.
	Bytes [2][3]int64
}

// Compare prices a training pass over so many utterances of the same length at once, for each number of rows, a power
// of two. The vocabulary is vocab_size, or 100. Nothing is allocated.
func Compare(cfg Config, rows []int, seconds, tokensPerSecond float64) ([]Compared, error) {
	cfg.Data.SpeedPerturb = false // the length is what is asked for
	p := &planner{run: &run{cfg: cfg, ledger: newLedger(cfg, nil)}, o: PlanOptions{Seconds: seconds, TokensPerSecond: tokensPerSecond}}
	if err := errors.Join(cfg.Validate(), p.o.checkLengths(cfg.Data)); err != nil {
		return nil, err
	}
	p.net = cfg.Network(p.vocab())
	length, err := p.length(seconds, 1)
	if err != nil {
		return nil, err
	}
	network, err := update.NetworkOn(op.CPU, p.net, cfg.Tuning())
	if err != nil {
		return nil, err
	}
	null, err := engine.NewNull(device.NewNull(0), engine.NewLibrary(network), 1, true)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	null.Rows = math.MaxInt
	u := null.Usage()
	var list []Compared
	for _, n := range rows {
		if n < 1 || n&(n-1) != 0 {
			return nil, fmt.Errorf("%d rows: want a power of two, as batches are dealt", n)
		}
		lengths := slices.Repeat([]data.Length{length}, n)
		c := Compared{Parameters: model.Count(p.net).Total, Rows: n}
		runner := update.NewRunner(p.net, null, n)
		for half := range c.Bytes {
			for i, way := range (RunConfig{Recompute: "auto"}).ways() {
				runner.Fit.Recompute = []engine.Recompute{way}
				e, err := runner.Estimate(lengths, update.Ask{Purpose: model.Training, Half: half == 1})
				if err != nil {
					return nil, err
				}
				c.Bytes[half][i] = u.Flat() + e.Bytes
			}
		}
		list = append(list, c)
	}
	return list, nil
}
