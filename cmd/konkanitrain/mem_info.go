package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"konkanitrain/internal/control"
	memory "konkanitrain/internal/machine"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
)

// memoryReport is what mem info has found out.
type memoryReport struct {
	Machine machineReport       `json:"machine"`
	Cards   []recognize.CardUse `json:"cards"`             // empty where there are none, or this build has no CUDA support
	Run     *control.Info       `json:"run"`               // nil: there is none in the folder that was named
	Why     string              `json:"no_run,omitempty"`  // why
	Waiting int                 `json:"waiting,omitempty"` // requests that the run hasn't carried out yet
	dir     string
}

// machineReport is the memory of this machine. All amounts are bytes; 0: unknown.
type machineReport struct {
	Total     int64  `json:"total"`
	Available int64  `json:"available"`
	Limit     int64  `json:"limit"` // 0: none below Total
	Source    string `json:"limit_source,omitempty"`
	Used      int64  `json:"limit_used"`
	Plan      int64  `json:"plan"` // what a new run may plan with
	Reason    string `json:"plan_reason"`
}

// memInfo shows the memory of this machine and of the run in progress.
func memInfo(ctx context.Context, c memConfig, _ string, s streams) error {
	m := memory.Read()
	r := memoryReport{dir: c.CheckpointDir, Cards: c.cards(), Machine: machineReport{Total: m.Total, Available: m.Available, Limit: m.Limit, Source: m.Source, Used: m.Used}}
	r.Machine.Plan, r.Machine.Reason = m.Auto(0)
	response, err := control.Ask(ctx, c.CheckpointDir, control.Request{Ask: control.AskInfo, Wait: c.Wait})
	switch {
	case err == nil:
		r.Run, r.Waiting = response.Info, response.Waiting
	case errors.Is(err, control.ErrNoRun), errors.Is(err, errors.ErrUnsupported):
		r.Why, err = "none in progress: "+err.Error(), nil
	default: // there may be one: what is known of the machine is shown all the same
		r.Why = "not known"
	}
	if c.JSON {
		return errors.Join(err, writeJSON(s.out, r))
	}
	_, failed := io.WriteString(s.out, r.text())
	return errors.Join(err, failed)
}

// text is the report for people.
func (r memoryReport) text() string {
	var s strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&s, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	m := r.Machine
	if m.Total > 0 {
		line("machine", "%s of memory, %s of it available", words.Bytes(m.Total), words.Bytes(m.Available))
	} else {
		line("machine", "this system doesn't say how much memory it has")
	}
	if m.Limit > 0 {
		line("limit", "%s by %s, %s of it used", words.Bytes(m.Limit), m.Source, words.Bytes(m.Used))
	} else if m.Total > 0 {
		line("limit", "none below that")
	}
	if m.Plan > 0 {
		line("new run", "may plan with %s: %s", words.Bytes(m.Plan), m.Reason)
	}
	for _, x := range r.Cards {
		line("card", "%s, %s: %s of memory", x.Device, printable(x.Title), words.Binary(x.Total))
		for _, text := range usersOf(x) {
			line("", "%s", text)
		}
	}
	if r.Run == nil {
		line("run", "%s", r.Why)
		return s.String()
	}
	i := r.Run
	line("run", "in %s: process %d, for %v, update %d, epoch %d", r.dir, i.PID, time.Since(i.Started).Round(time.Second), i.Update, i.Epoch)
	if r.Waiting > 0 {
		line("", "%s wait until the update or validation in hand is done", words.Count(r.Waiting, "request"))
	}
	s.WriteString(figures(*i))
	holders := func(list []control.Holder) {
		for _, h := range list {
			line("", "%10s  %s", words.Bytes(h.Bytes), h.Name)
		}
	}
	holders(i.Holders)
	if i.Card != nil {
		line("host", "%10s of this machine's memory beside the card, the cap is %s", words.Bytes(i.Card.Host), capText(i.Card.HostLimit))
		holders(i.Card.HostHolders)
	}
	return s.String()
}

// cards are those of this machine; none where there is no driver, or this build has no CUDA support.
func (c memConfig) cards() []recognize.CardUse {
	list, err := recognize.DeviceSetting{Driver: c.CUDADriver}.Cards()
	if err != nil {
		return []recognize.CardUse{}
	}
	return list
}

// usersOf says who uses a card, a line each.
func usersOf(c recognize.CardUse) (lines []string) {
	for _, u := range c.Users {
		lines = append(lines, printable(u.String()))
	}
	switch {
	case c.Unknown != "":
		why, _, _ := strings.Cut(c.Unknown, ": ") // where it was looked for is in the JSON
		lines = append(lines, "who uses it isn't known: "+printable(why))
	case len(lines) == 0:
		lines = append(lines, "no other process uses it, as far as the driver says")
	}
	return lines
}

// cardText is the card that a run computes on; "" for a CPU.
func cardText(c *control.Card) string {
	switch {
	case c == nil:
		return ""
	case c.Total == 0:
		return fmt.Sprintf("%-10s %s, %s: it doesn't answer any more\n", "card", c.Device, printable(c.Title))
	}
	return fmt.Sprintf("%-10s %s, %s: %s of memory, %s of it free, %s in contexts and other programs\n",
		"card", c.Device, printable(c.Title), words.Bytes(c.Total), words.Bytes(c.Free), words.Bytes(c.Other))
}

// figures are a run's amounts, one a line.
func figures(i control.Info) string {
	return cardText(i.Card) + fmt.Sprintf("%-10s %10s in buffers, %s at the peak\n%-10s %10s from the system for buffers, %s of it cached\n"+
		"%-10s %10s by the rest of the program, as far as it is counted\n%-10s %10s for the last two, which had %s at the peak\n%-10s %10s of memory in all, %s at the peak\n",
		"allocated", words.Bytes(i.Allocated), words.Bytes(i.Peak), "reserved", words.Bytes(i.Reserved), words.Bytes(i.Cached),
		"held", words.Bytes(i.Held), "cap", capText(i.Limit), words.Bytes(i.PeakReserved), "process", words.Bytes(i.RSS), words.Bytes(i.PeakRSS))
}

// outcome is what a run has done, for people, with its figures before and after.
func outcome(r *control.Response) string {
	var s strings.Builder
	if !r.Done {
		return figures(*r.Info)
	}
	fmt.Fprintf(&s, "process %d, after update %d: %s\n", r.Info.PID, r.Info.Update, r.Note)
	for _, x := range []struct {
		name        string
		before, now int64
	}{
		{"allocated", r.Before.Allocated, r.Info.Allocated}, {"peak", r.Before.Peak, r.Info.Peak},
		{"reserved", r.Before.Reserved, r.Info.Reserved}, {"cached", r.Before.Cached, r.Info.Cached},
		{"held", r.Before.Held, r.Info.Held}, {"their peak", r.Before.PeakReserved, r.Info.PeakReserved}, {"cap", r.Before.Limit, r.Info.Limit},
		{"process", r.Before.RSS, r.Info.RSS}, {"its peak", r.Before.PeakRSS, r.Info.PeakRSS},
	} {
		before, now := words.Bytes(x.before), words.Bytes(x.now)
		if x.name == "cap" {
			before, now = capText(x.before), capText(x.now)
		}
		fmt.Fprintf(&s, "%-10s %10s before, %10s now\n", x.name, before, now)
	}
	return s.String()
}

// capText is a cap for people.
func capText(bytes int64) string {
	if bytes == 0 {
		return "none"
	}
	return words.Bytes(bytes)
}
