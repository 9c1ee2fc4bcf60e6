package train

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"konkanitrain/internal/patterns"
	"konkanitrain/model"
)

// Names of parameters are paths with dots. Here they are put together for messages.

// joined is a path of names with dots.
func joined(parent, name string) string { return strings.TrimPrefix(parent+"."+name, ".") }

// namesOf are the names of parameters.
func namesOf(parameters []model.Parameter) (names []string) {
	for _, p := range parameters {
		names = append(names, p.Name)
	}
	return names
}

// childrenOf are what follows parent, which may be a pattern, in names, in their order.
func childrenOf(parent string, names []string) (children []string) {
	depth := 0
	if parent != "" {
		depth = 1 + strings.Count(parent, ".")
	}
	for _, name := range names {
		if depth > 0 && !patterns.Match(parent, name) {
			continue
		}
		if parts := strings.Split(name, "."); len(parts) > depth && !slices.Contains(children, parts[depth]) {
			children = append(children, parts[depth])
		}
	}
	return children
}

// ranges writes numbers that follow one another as a range: "0-7".
func ranges(names []string) (list []string) {
	for i := 0; i < len(names); {
		n, err := strconv.Atoi(names[i])
		end := i + 1
		for err == nil && end < len(names) && names[end] == strconv.Itoa(n+end-i) {
			end++
		}
		if end-i > 1 {
			list = append(list, names[i]+"-"+names[end-1])
		} else {
			list = append(list, names[i])
		}
		i = end
	}
	return list
}

// grouped names the parameters that belong, by the longest prefixes that hold no others: "encoder.subsample",
// "encoder.blocks.0-5".
func grouped(parameters []model.Parameter, belongs func(model.Parameter) bool) []string {
	return groupsOf("", parameters, belongs)
}

func groupsOf(parent string, parameters []model.Parameter, belongs func(model.Parameter) bool) (list []string) {
	children := childrenOf(parent, namesOf(parameters))
	below := func(name string) (found []model.Parameter) {
		for _, p := range parameters {
			if patterns.Match(joined(parent, name), p.Name) {
				found = append(found, p)
			}
		}
		return found
	}
	for i := 0; i < len(children); {
		inner := below(children[i])
		inside := insideOf(joined(parent, children[i]), inner, belongs)
		end := i + 1
		if _, err := strconv.Atoi(children[i]); err == nil {
			for end < len(children) && slices.Equal(insideOf(joined(parent, children[end]), below(children[end]), belongs), inside) {
				end++
			}
		}
		name := joined(parent, strings.Join(ranges(children[i:end]), ","))
		for _, part := range inside {
			list = append(list, name+part)
		}
		i = end
	}
	return list
}

// insideOf are the groups below a name, each as what follows the name: [""] where all of it belongs.
func insideOf(name string, parameters []model.Parameter, belongs func(model.Parameter) bool) (parts []string) {
	if !slices.ContainsFunc(parameters, func(p model.Parameter) bool { return !belongs(p) }) {
		return []string{""}
	}
	for _, g := range groupsOf(name, parameters, belongs) {
		parts = append(parts, strings.TrimPrefix(g, name))
	}
	return parts
}

// inOrder compares names part by part, numbers by their value.
func inOrder(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int {
		x, errX := strconv.Atoi(a)
		y, errY := strconv.Atoi(b)
		if errX == nil && errY == nil {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a, b)
	})
}
