package op_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"konkanitrain/device/cuda"
	"konkanitrain/internal/optest"
	"konkanitrain/op"
)

// Every op has kernels for a card, in both precisions and for every shape of the cases: launches that a card takes, of
// kernels that are compiled, with operands that are there. It needs no card.
func TestEveryOpHasACardKernel(t *testing.T) {
	compiled := entries(t)
	seen, failed := map[string]bool{}, map[string]bool{}
	for _, c := range optest.Cases() {
		ops, err := c.Instances()
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		for _, o := range ops {
			if seen[o.String()] || failed[o.Name] || o.View != nil {
				continue
			}
			seen[o.String()] = true
			if err := checkCardKernels(o, compiled); err != nil {
				failed[o.Name] = true
				t.Errorf("%v (%s): %v", o, c.Name, err)
			}
		}
	}
	if len(seen) < 200 {
		t.Errorf("the cases have only %d ops", len(seen))
	}
}

func checkCardKernels(o *op.Op, compiled map[string][]string) error {
	settings := []op.Setting{{Out: o.Out.Of}}
	for _, in := range o.In {
		settings[0].In = append(settings[0].In, in.Of)
	}
	for _, out := range []op.DType{op.Float16, op.Float32} {
		s, err := o.HalfSetting(out)
		if err != nil {
			return err
		}
		settings = append(settings, s)
	}
	for _, s := range settings {
		k, err := o.CardKernel(s)
		if err == nil {
			err = checkCardKernel(o, s, k, compiled)
		}
		if err == nil && k.Accumulates {
			s.Add = true
			if k, err = o.CardKernel(s); err == nil {
				err = checkCardKernel(o, s, k, compiled)
			}
		}
		if err != nil {
			return fmt.Errorf("with operands of %v and a result of %v: %w", s.In, s.Out, err)
		}
	}
	return nil
}

func checkCardKernel(o *op.Op, s op.Setting, k op.Kernel, compiled map[string][]string) error {
	p, err := o.Precision()
	if err != nil {
		return err
	}
	size := map[cuda.Place]int64{cuda.Scratch: k.Scratch, cuda.Result: int64(o.Out.Elements()) * s.Out.Bytes()}
	if p.Parts != nil {
		_, size[cuda.Result] = op.Packed(p.Parts, s.Half)
	}
	inside := func(r cuda.Ref) error {
		if r.Place == cuda.Operand && r.Index >= len(o.In) {
			return fmt.Errorf("operand %d of %d", r.Index, len(o.In))
		}
		end := size[r.Place]
		if r.Place == cuda.Operand {
			end = int64(o.In[r.Index].Elements()) * s.In[r.Index].Bytes()
		}
		if r.Offset < 0 || r.Offset >= end {
			return fmt.Errorf("byte %d of %d in %+v", r.Offset, end, r)
		}
		return nil
	}
	if len(k.Launches) == 0 {
		return fmt.Errorf("no launch")
	}
	for _, l := range k.Launches {
		if l.Bytes <= 0 {
			return fmt.Errorf("%s moves %d bytes", l.Name(), l.Bytes)
		}
		var refs []cuda.Ref
		switch {
		case l.Product != nil:
			refs = []cuda.Ref{l.Product.A.Ref, l.Product.B.Ref, l.Product.C.Ref}
		case l.Clear != nil:
			refs = []cuda.Ref{l.Clear.Ref, l.Clear.Ref.At(l.Clear.Bytes - 1)}
		default:
			params, ok := compiled[l.Kernel]
			if !ok || len(params) != len(l.Args) {
				return fmt.Errorf("%d arguments for the kernel %s, whose parameters are %v", len(l.Args), l.Kernel, params)
			}
			for i, a := range l.Args {
				if a.Pointer != nil && params[i] != "u64" {
					return fmt.Errorf("argument %d of %s is a pointer, the parameter %s", i, l.Kernel, params[i])
				}
				if a.Bits>>32 != 0 && !strings.HasSuffix(params[i], "64") {
					return fmt.Errorf("argument %d of %s has 64 bits, the parameter is %s", i, l.Kernel, params[i])
				}
				if a.Pointer != nil {
					refs = append(refs, *a.Pointer)
				}
			}
		}
		for _, r := range refs {
			if err := inside(r); err != nil {
				return fmt.Errorf("%s: %w", l.Name(), err)
			}
		}
	}
	return nil
}

// entries are the kernels in the .ptx files, with the types of their parameters: "u64", "f32".
func entries(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	entry := regexp.MustCompile(`(?s)\.visible \.entry (\w+)\((.*?)\)`)
	param := regexp.MustCompile(`\.param \.(\w+)`)
	all := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entry.FindAllStringSubmatch(string(text), -1) {
			if _, twice := all[e[1]]; twice {
				t.Errorf("%s: a kernel %s is in another file too, and a launch goes by the name alone", file, e[1])
			}
			all[e[1]] = []string{}
			for _, p := range param.FindAllStringSubmatch(e[2], -1) {
				all[e[1]] = append(all[e[1]], p[1])
			}
		}
	}
	return all
}
