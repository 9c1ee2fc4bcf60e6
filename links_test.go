package konkanitrain_test

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

// longestGuide is the most lines of a guide in docs, so that it can be read at a sitting.
const longestGuide = 250

var (
	// link is [text](target) or ![text](target), with a title or without; its text may have one pair of brackets in it.
	link = regexp.MustCompile(`\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]*)>?[^)]*\)`)
	// definition is a target below a page: [name]: target.
	definition = regexp.MustCompile(`(?m)^ {0,3}\[[^\]^]+\]:\s*<?([^\s>]+)`)
	span       = regexp.MustCompile("`[^`]*`")
	heading    = regexp.MustCompile(`(?m)^#{1,6}[ \t]+(.*?)[ \t]*#*$`)
	scheme     = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)
	// guide is how comments, help and other pages name a guide.
	guide = regexp.MustCompile(`\bdocs/[\w-]+\.md\b`)
)

// TestLinks follows every relative link of the repository's pages. It asks no network: other links are not followed.
func TestLinks(t *testing.T) {
	pages := tracked(t, "*.md")
	if !slices.Contains(pages, "README.md") || !slices.Contains(pages, "docs/data.md") {
		t.Fatalf("pages are missing: %q", pages)
	}
	for _, fault := range brokenLinks(os.DirFS("."), pages) {
		t.Error(fault)
	}
}

// TestGuides holds guides to a length, and to being in the README. Whatever names one, in help or a comment, names one
// that is there.
func TestGuides(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	guides := tracked(t, "docs/*.md")
	for _, name := range guides {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), "\n"); n > longestGuide {
			t.Errorf("%s has %d lines, at most %d are for a guide", name, n, longestGuide)
		}
		if !strings.Contains(string(readme), "| ["+title(string(b))+"]("+name+") |") {
			t.Errorf("README.md's table of guides lacks %s, %q", name, title(string(b)))
		}
	}
	for _, name := range tracked(t, "*.go", "*.md", "*.yaml", "*.sh", "*.py", "*.txtar", ".ci/run", "Makefile") {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, named := range guide.FindAllString(string(b), -1) {
			if name != "links_test.go" && !slices.Contains(guides, named) {
				t.Errorf("%s names %s, and there is no such guide", name, named)
			}
		}
	}
}

// A link that leads nowhere is found, whatever it lacks, and one that leads somewhere is not.
func TestBrokenLinks(t *testing.T) {
	page := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for _, c := range []struct{ name, text, want string }{
		{"a file", "[b](docs/b.md)", ""},
		{"a folder", "[docs](docs/)", ""},
		{"another place", "[x](https://example.org/no.md#no), [y](mailto:a@example.org)", ""},
		{"a heading", "[b](docs/b.md#two-words)", ""},
		{"the second of a name", "[b](docs/b.md#two-words-1)", ""},
		{"a heading with code, marks and another script", "[b](docs/b.md#--lm-the-नांव-its-use)", ""},
		{"a heading of this page", "# Here\n[x](#here)", ""},
		{"in code", "`[x](no.md)`\n```\n[y](no.md)\n```\n", ""},
		{"a page that isn't there", "text\n[b](docs/no.md)", "a.md:2: docs/no.md: there is no docs/no.md"},
		{"another case", "[b](docs/B.md)", "a.md:1: docs/B.md: there is no docs/B.md"},
		{"a heading that isn't there", "[b](docs/b.md#no)", "a.md:1: docs/b.md#no: docs/b.md has no heading #no"},
		{"a comment in code", "[b](docs/b.md#code)", "a.md:1: docs/b.md#code: docs/b.md has no heading #code"},
		{"a heading of this page that isn't there", "[x](#no)", "a.md:1: #no: a.md has no heading #no"},
		{"the third of a name", "[b](docs/b.md#two-words-2)", "a.md:1: docs/b.md#two-words-2: docs/b.md has no heading #two-words-2"},
		{"outside", "[x](../b.md)", "a.md:1: ../b.md: leads out of the repository"},
		{"from the root", "[x](/docs/b.md)", "a.md:1: /docs/b.md: isn't relative"},
		{"a heading of no page", "[x](c.txt#here)", "a.md:1: c.txt#here: c.txt has no heading #here"},
		{"an image", "![b](no.png)", "a.md:1: no.png: there is no no.png"},
		{"the second of a line, with a title", `[b](docs/b.md) and [c](no.md "title")`, "a.md:1: no.md: there is no no.md"},
		{"a text in brackets", "[[b]](no.md)", "a.md:1: no.md: there is no no.md"},
		{"over two lines", "see [a\nb](no.md)", "a.md:2: no.md: there is no no.md"},
		{"a definition", "[b]\n\n[b]: no.md", "a.md:3: no.md: there is no no.md"},
	} {
		files := fstest.MapFS{"a.md": page(c.text), "c.txt": page("# Here\n"),
			"docs/b.md": page("# b\n```\n# code\n```\n## Two words\n## Two words\n### `--lm`: [the](x) नांव, its use\n")}
		if got := strings.Join(brokenLinks(files, []string{"a.md"}), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// brokenLinks says which relative links of pages lead to no file, or to no heading of a page.
func brokenLinks(files fs.FS, pages []string) []string {
	var faults []string
	for _, name := range pages {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			faults = append(faults, err.Error())
			continue
		}
		for _, l := range links(string(text)) {
			if fault := follow(files, name, l.target); fault != "" {
				faults = append(faults, fmt.Sprintf("%s:%d: %s: %s", name, l.line, l.target, fault))
			}
		}
	}
	return faults
}

// target is where a link leads, and the line that says so, from 1.
type target struct {
	line   int
	target string
}

// links are a page's links, without those in code.
func links(text string) []target {
	var found []target
	whole := span.ReplaceAllStringFunc(unfenced(text), func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	for _, pattern := range []*regexp.Regexp{link, definition} {
		for _, m := range pattern.FindAllStringSubmatchIndex(whole, -1) {
			found = append(found, target{1 + strings.Count(whole[:m[2]], "\n"), whole[m[2]:m[3]]})
		}
	}
	return found
}

// unfenced is a page with empty lines in place of its fenced blocks.
func unfenced(text string) string {
	lines := strings.Split(text, "\n")
	code := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if code || fence {
			lines[i] = ""
		}
		if fence {
			code = !code
		}
	}
	return strings.Join(lines, "\n")
}

// follow says what is wrong with a link of the page from; "" is nothing.
func follow(files fs.FS, from, to string) string {
	if scheme.MatchString(to) {
		return ""
	}
	file, anchor, _ := strings.Cut(to, "#")
	if name, err := url.PathUnescape(file); err == nil {
		file = name
	}
	if strings.HasPrefix(file, "/") {
		return "isn't relative"
	}
	name := from
	if file != "" {
		name = path.Join(path.Dir(from), file)
	}
	if !fs.ValidPath(name) {
		return "leads out of the repository"
	}
	if _, err := fs.Stat(files, name); err != nil {
		return "there is no " + name
	}
	if anchor == "" {
		return ""
	}
	if text, err := fs.ReadFile(files, name); err == nil && path.Ext(name) == ".md" && slices.Contains(anchors(string(text)), anchor) {
		return ""
	}
	return name + " has no heading #" + anchor
}

// anchors are the names of a page's headings, as GitHub makes them: in lower case, with - for a space, without marks,
// and with a number behind a name that there was before.
func anchors(text string) []string {
	var names []string
	for _, m := range heading.FindAllStringSubmatch(unfenced(text), -1) {
		shown := link.ReplaceAllStringFunc(m[1], func(l string) string { return strings.TrimLeft(l[:strings.LastIndex(l, "](")], "![") })
		base := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
				return unicode.ToLower(r)
			}
			return -1
		}, shown)
		name := base
		for n := 1; slices.Contains(names, name); n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		names = append(names, name)
	}
	return names
}

// title is a page's first heading.
func title(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimPrefix(first, "# ")
}
