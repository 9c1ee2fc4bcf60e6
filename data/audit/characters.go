package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"konkanitrain/data/text"
	"konkanitrain/internal/words"
)

const (
	rareCharacter = 5   // a character that occurs less often in training is rare
	rareLines     = 5   // lines that a rare character is named with, and findings' items of one
	fewLetters    = 0.1 // share of the letters under which a script is beside the others, not one of them
)

// letter is what is known of one character.
type letter struct {
	rune
	script  string // "" where it belongs to none
	train   int
	heldOut int
	lines   []int32 // the first utterances it stands in
}

// judgeCharacters counts characters and finds odd ones.
func (a *audit) judgeCharacters() {
	c := &characters{audit: a, of: map[rune]*letter{}, scripts: map[string]*script{}}
	for i := range a.all {
		c.read(i)
	}
	a.find("damaged_text", Fault, c.damaged, "%s characters that no text has: it was read in a wrong encoding, or is damaged", "utterance has", "utterances have")
	a.find("mixed_scripts", Doubt, c.mixed, "%s a word with letters of two scripts", "utterance has", "utterances have")
	a.find("lookalikes", Doubt, c.alike, "%s a sign that looks like one of the script around it, and isn't", "utterance has", "utterances have")
	a.find("lone_marks", Doubt, c.lone, "%s a word that starts with a combining mark: the letter before it is missing", "utterance has", "utterances have")
	all := c.sorted()
	c.report(all)
	c.judgeRare(all)
	c.judgeScripts()
	c.judgeDigits(all)
}

// characters reads texts.
type characters struct {
	*audit
	of                          map[rune]*letter
	scripts                     map[string]*script
	damaged, mixed, alike, lone group
}

// script is one with what is written in it.
type script struct {
	letters int
	last    int     // the utterance that was counted last
	lines   []int32 // the utterances
}

// at is the letter r, known from now on.
func (c *characters) at(r rune) *letter {
	l := c.of[r]
	if l == nil {
		l = &letter{rune: r, script: text.Script(r)}
		c.of[r] = l
	}
	return l
}

// read counts the characters of utterance i and looks at its words.
func (c *characters) read(i int) {
	e := &c.all[i]
	text, held := c.text(i), c.held(e)
	for _, r := range text {
		l := c.at(r)
		if held {
			l.heldOut++
		} else {
			l.train++
		}
		if n := len(l.lines); n < rareLines && (n == 0 || l.lines[n-1] != int32(i)) {
			l.lines = append(l.lines, int32(i))
		}
		if l.script != "" {
			c.count(l.script, i)
		}
	}
	if why := damage(text); why != "" {
		c.damaged.add(c.item(i, 0, "%s", why))
	}
	if why := c.mixedWords(text); why != "" {
		c.mixed.add(c.item(i, 0, "%s", why))
	}
	if why := c.lookalikes(text); why != "" {
		c.alike.add(c.item(i, 0, "%s", why))
	}
	if why := loneMarks(text); why != "" {
		c.lone.add(c.item(i, 0, "%s", why))
	}
}

func (c *characters) count(name string, i int) {
	s := c.scripts[name]
	if s == nil {
		s = &script{last: -1}
		c.scripts[name] = s
	}
	s.letters++
	if s.last != i {
		s.last = i
		s.lines = append(s.lines, int32(i))
	}
}

// sorted lists the characters in code point order.
func (c *characters) sorted() []*letter {
	all := make([]*letter, 0, len(c.of))
	for _, l := range c.of {
		if l.train+l.heldOut > 0 { // others were looked at only
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(x, y *letter) int { return cmp.Compare(x.rune, y.rune) })
	return all
}

// rare says whether training sees too little of a character to learn it.
func (l *letter) rare() bool { return l.train > 0 && l.train < rareCharacter }

// report fills the alphabet.
func (c *characters) report(all []*letter) {
	out := &c.audit.report.Alphabet
	out.Characters, out.Scripts = []Character{}, []Script{}
	for _, l := range all {
		x := Character{Char: string(l.rune), Code: fmt.Sprintf("U+%04X", l.rune), Script: l.script, Train: l.train, HeldOut: l.heldOut, Lines: []Place{}}
		if l.train < rareCharacter {
			for _, i := range l.lines {
				u := c.utterance(int(i))
				x.Lines = append(x.Lines, Place{u.File, u.Line})
			}
		}
		out.Characters = append(out.Characters, x)
	}
	for name, s := range c.scripts {
		out.Scripts = append(out.Scripts, Script{name, s.letters, len(s.lines)})
	}
	slices.SortFunc(out.Scripts, func(x, y Script) int { return cmp.Or(cmp.Compare(y.Letters, x.Letters), cmp.Compare(x.Name, y.Name)) })
}

// judgeRare finds characters that training sees rarely, or never while they are held out.
func (c *characters) judgeRare(all []*letter) {
	var rare, unseen group
	for _, l := range all {
		name := fmt.Sprintf("%q (U+%04X)", l.rune, l.rune)
		switch {
		case l.rare():
			rare.add(c.item(int(l.lines[0]), float64(rareCharacter-l.train), "%s occurs %s in training", name, times(l.train)))
		case l.train == 0 && !c.untrained():
			unseen.add(c.item(int(l.lines[0]), float64(l.heldOut), "%s occurs %s, and never in training", name, times(l.heldOut)))
		}
	}
	c.find("unseen_characters", Doubt, unseen, "%s held out and not in training: no model can write them", "character is", "characters are")
	c.find("rare_characters", Remark, rare, "%s in training less than 5 times: too rarely to be learned", "character stands", "characters stand")
}

// untrained says that no set is for training.
func (c *characters) untrained() bool {
	return !slices.ContainsFunc(c.sets, func(p Part) bool { return p.Role == Train })
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// judgeScripts finds utterances with letters of scripts that few letters are of.
func (c *characters) judgeScripts() {
	total := 0
	for _, s := range c.scripts {
		total += s.letters
	}
	var g group
	var names []string
	named := make([]bool, len(c.all))
	for _, s := range c.audit.report.Alphabet.Scripts {
		if float64(s.Letters) >= fewLetters*float64(total) {
			continue
		}
		names = append(names, fmt.Sprintf("%s %.2g %%", s.Name, 100*float64(s.Letters)/float64(total)))
		for _, i := range c.scripts[s.Name].lines {
			if !named[i] {
				named[i] = true
				g.add(c.item(int(i), 1-float64(s.Letters)/float64(total), "%s: %s", s.Name, inScript(c.text(int(i)), s.Name)))
			}
		}
	}
	title := "%s letters of a script that is not the usual one: " + words.List(names, 8) + " of the letters"
	c.find("other_scripts", Remark, g, title, "utterance has", "utterances have")
}

// inScript is the words of a text with letters of a script.
func inScript(s, script string) string {
	var found []string
	for word := range strings.FieldsSeq(s) {
		if strings.ContainsFunc(word, func(r rune) bool { return text.Script(r) == script }) {
			found = append(found, word)
		}
	}
	return words.List(found, 5)
}

// judgeDigits finds digits of two scripts.
func (c *characters) judgeDigits(all []*letter) {
	counts := map[rune]int{} // by the zero of the script
	var zeros []rune
	var g group
	for _, l := range all {
		if !unicode.Is(unicode.Nd, l.rune) {
			continue
		}
		zero := l.rune
		for unicode.Is(unicode.Nd, zero-1) && l.rune-zero < 9 {
			zero--
		}
		if counts[zero] += l.train + l.heldOut; !slices.Contains(zeros, zero) {
			zeros = append(zeros, zero)
			g.add(c.item(int(l.lines[0]), 0, "the digit %c (U+%04X)", l.rune, l.rune))
		}
	}
	if len(zeros) < 2 {
		return
	}
	var all2 []string
	for _, z := range zeros {
		all2 = append(all2, fmt.Sprintf("%c-%c %s", z, z+9, times(counts[z])))
	}
	c.find("two_digits", Remark, g, "%s: "+words.List(all2, len(all2))+"; fold_digits writes them all as 0-9", "script has digits", "scripts have digits")
}
