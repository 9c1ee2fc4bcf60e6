package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"konkanitrain/internal/control"
	memory "konkanitrain/internal/machine"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
)

// What this program is called: as `make build` and `make gpu` name it.
const (
	programName = "konkanitrain"
	gpuName     = "konkanitrain-gpu"
)

// mostProcesses is how many are shown for people, beside those that run this program.
const mostProcesses = 15

// processReport is a process for programs.
type processReport struct {
	PID           int      `json:"pid"`
	User          string   `json:"user"`
	RSS           int64    `json:"rss"`                      // bytes
	PSS           int64    `json:"pss,omitempty"`            // bytes, shared ones divided; 0: not known
	Command       []string `json:"command"`                  // its command line
	Konkanitrain  string   `json:"konkanitrain,omitempty"`   // the command of this program that it runs
	CheckpointDir string   `json:"checkpoint_dir,omitempty"` // of a run, where it can be told
	End           string   `json:"end,omitempty"`            // the command that ends it, of this program's processes
	Ends          string   `json:"ends,omitempty"`           // how
}

// memProcesses shows who uses the memory of this machine. It ends nobody.
func memProcesses(_ context.Context, c memConfig, _ string, s streams) error {
	processes, err := memory.Processes()
	if err != nil {
		return err
	}
	own, _ := os.Executable()
	all := []processReport{}
	for _, p := range processes {
		if p.PID != os.Getpid() {
			all = append(all, reportProcess(p, own))
		}
	}
	if c.JSON {
		return writeJSON(s.out, all) // those of cards are in mem info --json
	}
	_, err = io.WriteString(s.out, processText(all)+cardsText(c.cards()))
	return err
}

// cardsText is who uses the cards; "" without any.
func cardsText(cards []recognize.CardUse) string {
	var s strings.Builder
	for _, c := range cards {
		fmt.Fprintf(&s, "%s, %s, %s of memory:\n", c.Device, printable(c.Title), words.Binary(c.Total))
		for _, line := range usersOf(c) {
			fmt.Fprintf(&s, "  %s\n", line)
		}
	}
	return s.String()
}

// reportProcess is what is to be said of a process; own is the path of this program.
func reportProcess(p memory.Process, own string) processReport {
	r := processReport{PID: p.PID, User: userName(p.UID), RSS: p.RSS, PSS: p.PSS, Command: p.Command}
	program := cmp.Or(p.Program, p.Command[0])
	name := strings.TrimSuffix(filepath.Base(program), " (deleted)")
	if program != own && name != programName && name != gpuName {
		return r
	}
	cmd, _, err := choose(p.Command[1:])
	if err != nil {
		return r
	}
	r.Konkanitrain, r.End, r.Ends = cmd.name, fmt.Sprintf("kill -INT %d", p.PID), cmd.onStop
	if cmd.saves {
		r.Ends = fmt.Sprintf("saves if it has begun to train and doesn't only measure (find_lr, profile_steps), exits with code %d", exitInterrupted)
		for _, path := range memory.Open(p.PID) {
			if control.Listens(path) {
				r.CheckpointDir = path
				r.Ends = fmt.Sprintf("finishes its update, saves, exits with code %d", exitInterrupted)
			}
		}
	}
	return r
}

// userName is a user's name, or the number where there is none.
func userName(uid int) string {
	if uid < 0 {
		return "?"
	}
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

// processText is the list for people: the largest processes and all of this program's.
func processText(all []processReport) string {
	var s strings.Builder
	w := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "process\tuser\tmemory\tits share\tcommand")
	var notes []string // below the line of the process, by line
	left, rest := 0, int64(0)
	for i, p := range all {
		if i >= mostProcesses && p.Konkanitrain == "" {
			left++
			rest += p.RSS
			continue
		}
		share := "?"
		if p.PSS > 0 {
			share = words.Bytes(p.PSS)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", p.PID, printable(p.User), words.Bytes(p.RSS), share, shorten(printable(strings.Join(p.Command, " "))))
		notes = append(notes, p.note())
	}
	w.Flush()
	lines := strings.SplitAfter(s.String(), "\n")
	s.Reset()
	for i, line := range lines {
		s.WriteString(line)
		if i > 0 && i <= len(notes) {
			s.WriteString(notes[i-1])
		}
	}
	if left > 0 {
		fmt.Fprintf(&s, "and %d more, with %s together at most\n", left, words.Bytes(rest))
	}
	return s.String()
}

// note says what a process of this program's is and what ends it; "" for any other process.
func (p processReport) note() string {
	if p.Konkanitrain == "" {
		return ""
	}
	what := "  konkanitrain " + p.Konkanitrain
	if p.CheckpointDir != "" {
		what += ", checkpoint_dir " + printable(p.CheckpointDir)
	}
	return fmt.Sprintf("%s; `%s` ends it: %s\n", what, p.End, p.Ends)
}

// printable keeps what would move the cursor or end a line out of a text.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}

// shorten cuts a long command line.
func shorten(text string) string {
	const most = 100
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-3]) + "..."
	}
	return text
}
