package main

import (
	"strings"
	"testing"

	"konkanitrain/internal/control"
	memory "konkanitrain/internal/machine"
	"konkanitrain/internal/testkit"
	"konkanitrain/recognize"
	"konkanitrain/train"
)

// A run and who asks it look in the same folder, if neither is told another.
func TestMemLooksWhereTrainingIs(t *testing.T) {
	var c memConfig
	if _, err := newOptions("mem", &c); err != nil {
		t.Fatal(err)
	}
	if want := train.Default().Run.CheckpointDir; c.CheckpointDir != want {
		t.Errorf("%q, and training is in %q", c.CheckpointDir, want)
	}
}

// Each word can be asked for, and is explained.
func TestMemHelpIsComplete(t *testing.T) {
	_, text, _ := runHere("help", "mem")
	for _, a := range memActions() {
		testkit.MustContain(t, text, "\n  "+a.name, a.summary)
		testkit.MustContain(t, memCommand().args, a.name)
	}
}

// The figures before and after are beside each other.
func TestOutcome(t *testing.T) {
	before := control.Info{Allocated: 1_000_000, Reserved: 3_000_000, Cached: 2_000_000, Limit: 0}
	now := control.Info{PID: 7, Update: 5, Allocated: 1_000_000, Reserved: 1_000_000, Limit: 2_500_000_000}
	text := outcome(&control.Response{Done: true, Note: "gave back 2.0 MB", Before: &before, Info: &now})
	testkit.MustContain(t, text, "process 7, after update 5: gave back 2.0 MB\n", "cached         2.0 MB before,    0 bytes now\n",
		"reserved       3.0 MB before,     1.0 MB now\n", "cap              none before,     2.5 GB now\n")
	text = outcome(&control.Response{Info: &now})
	testkit.MustContain(t, text, "cap            2.5 GB for the last two, which had 0 bytes at the peak\n", "allocated      1.0 MB in buffers, 0 bytes at the peak\n")
}

// Of a run on a card the card is named, and what the run has on the host stands beside it.
func TestFiguresOfACard(t *testing.T) {
	i := control.Info{Allocated: 1_000_000, Card: &control.Card{
		Device: "cuda:0", Title: "Tesla\x1bT4", Total: 16_000_000_000, Free: 1_000_000_000, Other: 14_500_000_000,
		Host: 90_000_000, HostLimit: 12_000_000_000, HostHolders: []control.Holder{{Name: "decoded sound", Bytes: 7_000_000}},
	}}
	text := memoryReport{Run: &i}.text()
	testkit.MustContain(t, text, "\ncard       cuda:0, Tesla?T4: 16.0 GB of memory, 1.0 GB of it free, 14.5 GB in contexts and other programs\nallocated      1.0 MB",
		"\nhost          90.0 MB of this machine's memory beside the card, the cap is 12.0 GB\n", "    7.0 MB  decoded sound\n")
	i.Card.Total = 0
	testkit.MustContain(t, figures(i), "it doesn't answer any more\n")
}

// Who uses a card is said in one line each, or that nobody does, or why it isn't known.
func TestCardsText(t *testing.T) {
	card := recognize.CardUse{Device: "cuda:0", Title: "Tesla T4", Total: 15_828_320_256}
	text := func(change func(*recognize.CardUse)) string {
		c := card
		change(&c)
		return cardsText([]recognize.CardUse{c})
	}
	testkit.MustContain(t, text(func(c *recognize.CardUse) {
		c.Users = []recognize.CardUser{{PID: 75955, Name: "python3", Bytes: 15214921646}, {PID: 7, Bytes: -1}}
	}), "cuda:0, Tesla T4, 14.74 GiB of memory:\n  Process 75955 (python3) has 14.17 GiB memory in use\n  Process 7 has an unknown amount of memory in use\n")
	testkit.MustContain(t, text(func(*recognize.CardUse) {}), "  no other process uses it, as far as the driver says\n")
	testkit.MustContain(t, text(func(c *recognize.CardUse) { c.Unknown = "no NVML" }), "  who uses it isn't known: no NVML\n")
	testkit.MustContain(t, memoryReport{Cards: []recognize.CardUse{card}}.text(), "\ncard       cuda:0, Tesla T4: 14.74 GiB of memory\n           no other process")
	if cardsText(nil) != "" {
		t.Error("text about no card")
	}
}

// This program's processes are named with what ends them, whatever they are called; others are left alone.
func TestReportProcess(t *testing.T) {
	for _, c := range []struct {
		p    memory.Process
		want string // of the note
	}{
		{memory.Process{PID: 5, Program: "/bin/bash", Command: []string{"bash", "konkanitrain"}}, ""},
		{memory.Process{PID: 5, Program: "/opt/konkanitrain (deleted)", Command: []string{"x", "--batch_size", "3"}},
			"  konkanitrain train; `kill -INT 5` ends it: saves if it has begun to train and doesn't only measure (find_lr, profile_steps), exits with code 130\n"},
		{memory.Process{PID: 5, Program: "/opt/konkanitrain-gpu", Command: []string{"x", "eval"}}, "  konkanitrain eval; `kill -INT 5` ends it: stopping\n"},
		{memory.Process{PID: 5, Program: "/opt/konkanitrain-cpu", Command: []string{"x", "eval"}}, ""},
		{memory.Process{PID: 6, Program: "/opt/kt", Command: []string{"kt", "train"}}, "  konkanitrain train; `kill -INT 6` ends it"},
		{memory.Process{PID: 7, Command: []string{"./konkanitrain", "eval", "--checkpoint", "x"}}, "  konkanitrain eval; `kill -INT 7` ends it: stopping\n"},
		{memory.Process{PID: 8, Program: "/opt/konkanitrain", Command: []string{"konkanitrain", "nonsense"}}, ""},
	} {
		got := reportProcess(c.p, "/opt/kt").note()
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}

// The list shows the largest processes and all of this program's; what others have named themselves moves no cursor.
func TestProcessText(t *testing.T) {
	var all []processReport
	for i := range mostProcesses + 3 {
		all = append(all, processReport{PID: 100 + i, User: "me", RSS: 2_000_000, Command: []string{"x"}})
	}
	all[0].Command, all[0].PSS = []string{"a\x1b[2J\nb", strings.Repeat("ळ", 200)}, 1_000_000
	all[mostProcesses+1].Konkanitrain, all[mostProcesses+1].End, all[mostProcesses+1].CheckpointDir = "train", "kill -INT 116", "/runs/a\nb"
	text := processText(all)
	testkit.MustContain(t, text, "process  user  memory  its share  command\n", "100      me    2.0 MB  1.0 MB     a?[2J?b ळ", "ळ...\n",
		"116      me    2.0 MB  ?          x\n  konkanitrain train, checkpoint_dir /runs/a?b; `kill -INT 116` ends it", "\nand 2 more, with 4.0 MB together at most\n")
	if n := strings.Count(text, "\n"); n != 1+mostProcesses+2+1 {
		t.Errorf("%d lines:\n%s", n, text)
	}
	if userName(-1) != "?" || userName(1<<30) != "1073741824" {
		t.Errorf("%q, %q", userName(-1), userName(1<<30))
	}
}
