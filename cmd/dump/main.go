package main

import (
	"fmt"
	"strings"

	"gorgonia.org/gorgonia"
	"konkanitrain/engine"
	"konkanitrain/model"
)

func nm(o engine.Operand) string {
	if o.Space == engine.Arena {
		return ""
	}
	return o.Name
}

func main() {
	nets := map[string]model.Config{}
	base := model.Config{Heads: 4, ConvKernel: 31, Subsampling: 4, SubsampleChannels: 64, NumMels: 80, Vocab: 100, Dropout: 0.1, CTCWeight: 0.3, LabelSmoothing: 0.1}
	for name, d := range map[string][3]int{"original": {256, 12, 6}, "optimized": {192, 8, 4}, "minimal": {128, 6, 3}} {
		c := base
		c.DModel, c.EncoderLayers, c.DecoderLayers = d[0], d[1], d[2]
		nets[name] = c
	}
	c := base
	c.DModel, c.EncoderLayers, c.ConvKernel, c.Subsampling, c.SubsampleChannels = 96, 3, 15, 2, 32
	nets["smoke"] = c
	c.NumMels = 40
	nets["digits"] = c
	for _, name := range []string{"original", "optimized", "minimal", "smoke", "digits"} {
		for _, sh := range []model.Shape{{2, 800, 80}, {1, 100, 5}, {2, 3000, 300}} {
			for _, mode := range []string{"train", "recompute", "half", "halfrecompute"} {
				purpose := model.Training
				if mode == "score" {
					purpose = model.Scoring
				}
				net, err := model.Build(nets[name], sh, purpose)
				if err != nil {
					panic(err)
				}
				spec := engine.Spec{Weights: net.Weights, Shared: net.Shared, Outputs: map[string]*gorgonia.Node{"ctc": net.CTC}}
				if net.CE != nil {
					spec.Outputs["ce"] = net.CE
				}
				if mode != "score" {
					spec.Loss, spec.Half = net.Loss, mode == "half" || mode == "halfrecompute"
					if strings.HasSuffix(mode, "recompute") {
						spec.Recompute = engine.RecomputeBlocks
					}
					spec.Grads = net.Graph.Grad(net.Loss, net.Weights...)
				} else {
					spec.Outputs["logits"] = net.Logits
				}
				p, err := engine.Compile(spec)
				if err != nil {
					panic(err)
				}
				fmt.Printf("== %s %v %s arena %d\n", name, sh, mode, p.ArenaBytes())
				for _, s := range p.Steps {
					var in []string
					for _, o := range s.In {
						in = append(in, fmt.Sprint([]int(o.Type.Shape))+nm(o))
					}
					add := ""
					if s.Add {
						add = " add"
					}
					fmt.Printf("%s{%s} %v%s <- %s%s\n", s.Op.Name, s.Op.Params, []int(s.Out.Type.Shape), nm(s.Out), strings.Join(in, " "), add)
				}
			}
		}
	}
}
