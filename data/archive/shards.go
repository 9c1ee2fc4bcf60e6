package archive

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// ofName matches the names of shards that say how many there are: train-00000-of-00003.
var ofName = regexp.MustCompile(`^(.*)-(\d{1,9})-of-(\d{1,9})$`)

// shardName matches the names of shards by their numbers, of which the first part is in common.
var shardName = regexp.MustCompile(`^(.*?)[-_.]?\d{3,}(-of-\d+)?$`)

// missing says which shards are not there, where the names of the others say how many there are.
func (l *List) missing(paths []string) {
	type set struct{ name, total string }
	var sets []set
	there := map[set]map[int]bool{}
	for _, p := range paths {
		m := ofName.FindStringSubmatch(stem(p))
		if m == nil {
			continue
		}
		s := set{filepath.Join(filepath.Dir(p), m[1]), m[3]}
		if there[s] == nil {
			sets, there[s] = append(sets, s), map[int]bool{}
		}
		n, _ := strconv.Atoi(m[2])
		there[s][n] = true
	}
	for _, s := range sets {
		total, _ := strconv.Atoi(s.total)
		first := 0
		if there[s][total] && !there[s][0] {
			first = 1
		}
		lacks := total - len(there[s])
		if lacks <= 0 {
			continue
		}
		var names []string
		for n := first; len(names) < min(lacks, 4); n++ {
			if !there[s][n] {
				names = append(names, fmt.Sprintf("%s-%0*d-of-%s", filepath.Base(s.name), len(s.total), n, s.total))
			}
		}
		if len(names) < lacks {
			names[3] = fmt.Sprintf("and %d more", lacks-3)
		}
		l.note("%s: %d of %d shards are there; missing: %s", s.name, total-lacks, total, strings.Join(names, ", "))
	}
}

// splitOf is a file's name without the number of a shard.
func splitOf(path string) string {
	name := stem(path)
	if m := shardName.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}

// splitsOf lists the splits of files, each once, and the files of each.
func splitsOf(paths []string) (splits []string, files map[string][]string) {
	files = map[string][]string{}
	for _, p := range paths {
		split := splitOf(p)
		if files[split] == nil {
			splits = append(splits, split)
		}
		files[split] = append(files[split], p)
	}
	return splits, files
}

// choices is how each split is given: by its file, or by a pattern.
func choices(folder string, splits []string, files map[string][]string) []string {
	var out []string
	for _, split := range splits {
		out = append(out, standFor(folder, files[split], ""))
	}
	return out
}

// standFor is what stands for some files of a folder and no others: the path of one, all with an ending, or a pattern.
func standFor(folder string, paths []string, ending string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	if ending != "" {
		return filepath.Join(folder, "*"+ending)
	}
	common := filepath.Base(paths[0])
	for _, p := range paths {
		for !strings.HasPrefix(filepath.Base(p), common) {
			common = common[:len(common)-1]
		}
	}
	common = strings.TrimRight(common, "0123456789") // a shard's number, of which some digits are alike
	return filepath.Join(folder, common+"[0-9]*"+filepath.Ext(paths[0]))
}
