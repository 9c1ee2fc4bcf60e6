package konkanitrain_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// aboveEngine are the rooms that see weights, gradients and moments as streams only, by name, through a replica.
var aboveEngine = []string{"update", "recognize", "train", "cmd", "bench"}

// TestNoSliceOfWeightsAboveEngine: above package engine nobody holds a slice of weights, gradients, moments or
// averages: they may lie in a memory that the host can't address. So nothing there asks a buffer for the host's view of
// it, binds a machine's memory, or calls a slice of floats after one of these.
func TestNoSliceOfWeightsAboveEngine(t *testing.T) {
	files := 0
	for _, room := range aboveEngine {
		err := filepath.WalkDir(room, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files++
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			for _, found := range weightSlices(file) {
				t.Errorf("%s: %s: weights are the replica's: Export, Import and Mean move them", set.Position(found.Pos()), found.what)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 20 {
		t.Fatalf("only %d files: not all of the rooms", files)
	}
}

type weightSlice struct {
	ast.Node
	what string
}

// weightSlices looks for what gives a slice of weights away.
func weightSlices(file *ast.File) (found []weightSlice) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.CallExpr:
			if s, ok := x.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "Host" || s.Sel.Name == "Floats") && len(x.Args) == 0 {
				found = append(found, weightSlice{x, "a buffer's memory is asked for"})
			}
		case *ast.SelectorExpr:
			if p, ok := x.X.(*ast.Ident); ok && p.Name == "engine" && (x.Sel.Name == "Memory" || x.Sel.Name == "Machine") {
				found = append(found, weightSlice{x, "a program is bound to memory"})
			}
		case *ast.Field:
			for _, name := range x.Names {
				if isFloats(x.Type) && aboutWeights(name.Name) {
					found = append(found, weightSlice{x, name.Name + " is a slice of floats"})
				}
			}
		}
		return true
	})
	return found
}

func isFloats(t ast.Expr) bool {
	a, ok := t.(*ast.ArrayType)
	if !ok {
		return false
	}
	id, ok := a.Elt.(*ast.Ident)
	return ok && (id.Name == "float32" || id.Name == "byte")
}

func aboutWeights(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"weight", "grad", "moment", "average", "param"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// The look itself finds what it is for.
func TestWeightSlicesAreFound(t *testing.T) {
	const source = `package x
type core struct{ weights []float32 }
func f(grads []float32, b device.Buffer) { _ = b.Host(); _ = engine.Memory{} }
func fine(name string, features []float32) {}`
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if found := weightSlices(file); len(found) != 4 {
		t.Errorf("%d found, want 4: %v", len(found), found)
	}
}
