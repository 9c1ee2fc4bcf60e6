//go:build gpu

package op

import files "embed"

//go:embed *.ptx
var modules files.FS

// Modules are the kernels of all ops as PTX, by the names of their files: what a card loads, once, before it runs the
// launches of a [Kernel].
func Modules() map[string][]byte {
	entries, err := modules.ReadDir(".")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	all := map[string][]byte{}
	for _, f := range entries {
		if all[f.Name()], err = modules.ReadFile(f.Name()); err != nil {
			panic(err)
		}
	}
	return all
}
