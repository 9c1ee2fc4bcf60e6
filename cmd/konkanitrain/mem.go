package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"konkanitrain/internal/control"
	"konkanitrain/internal/settings"
)

// memConfig is the settings of mem.
type memConfig struct {
	CheckpointDir string  `yaml:"checkpoint_dir" default:"runs/default" check:"not empty path" help:"checkpoint_dir of the run in progress"`
	Wait          float64 `yaml:"wait" default:"10" check:"0..60" help:"seconds to wait while the run is in the middle of an update or a validation"`
	CUDADriver    string  `yaml:"cuda_driver" default:"" check:"path" zero:"the system's" help:"file of the CUDA driver's library, libcuda.so.1, for the cards of this machine"`
	JSON          bool    `yaml:"json" default:"false" check:"any" help:"print the result as JSON"`
}

// memAction is what can follow "mem".
type memAction struct {
	name, args string
	summary    string
	run        func(ctx context.Context, c memConfig, arg string, s streams) error
}

// memActions are all of them. Only fraction has an argument.
func memActions() []memAction {
	return []memAction{
		{"info", "", "the memory of this machine and its cards, what a new run may plan with, and who holds what in the run in progress", memInfo},
		{"clear", "", "have the run give its idle memory back to the system", memAsk(control.AskClear)},
		{"reset", "", "have the run's peaks begin anew, to see what the updates to come take", memAsk(control.AskReset)},
		{"fraction", "F", "set the run's cap to a share of what the machine, or the limit on it, allows (0.8)", memAsk(control.AskFraction)},
		{"processes", "", "who uses the memory of this machine and its cards, and how to end a run; nothing is ended by this command", memProcesses},
	}
}

func memCommand() command {
	return command{
		name: "mem", args: "info|clear|reset|fraction F|processes", summary: "see what memory there is and who uses it, and have a run use less",
		onStop: "stopping", run: runMem,
	}
}

func memHelp() (string, error) {
	o, err := newOptions("mem", &memConfig{})
	if err != nil {
		return "", err
	}
	var s strings.Builder
	for _, a := range memActions() {
		fmt.Fprintf(&s, "  %-11s %s\n", strings.TrimSpace(a.name+" "+a.args), a.summary)
	}
	return usageLine(memCommand()) + "\n" + s.String() + `
A run in progress answers on a socket in its checkpoint_dir, its own user and root only, and on Linux only. What clear,
reset and fraction ask for it does between two updates; the figures before and after are printed. Where the wait is
over first, the run does it later all the same, and the exit code is 1. None of it changes what is learned, but for
rounding where a smaller cap asks for smaller micro-batches.

Allocated is what the run's buffers take. Reserved is what it has from the system for buffers, and cached what of that
is in no buffer. Held is what the rest of the program is known to take. The cap is on reserved and held together; one
set by mem fraction takes the place of memory_limit and memory_fraction until this process of the run ends. Where it
leaves no room for an utterance even alone, on_oom says what becomes of that.

Of a run on a card allocated, reserved, cached and the cap are of the card's memory, held is about what the driver's
context takes of it, and a share is one of the card's memory. What the run has of this machine's stands beside it.

A limit on this machine is that of a control group (a container has one) or of ulimit; the one with the least room left
counts.
` + o.usages(), nil
}

func runMem(ctx context.Context, args []string, s streams) error {
	var c memConfig
	o, err := newOptions("mem", &c)
	if err != nil {
		return err
	}
	if err := o.parse(args); err != nil {
		return err
	}
	if err := o.apply(func(*settings.Problems) {}); err != nil {
		return err
	}
	action, arg, err := chooseMem(o.flags.Args())
	if err != nil {
		return o.usage(err)
	}
	return action.run(ctx, c, arg, s)
}

// chooseMem finds the action and its argument.
func chooseMem(args []string) (memAction, string, error) {
	var names []string
	for _, a := range memActions() {
		names = append(names, a.name)
		if len(args) == 0 || args[0] != a.name {
			continue
		}
		switch rest := args[1:]; {
		case a.args == "" && len(rest) == 0:
			return a, "", nil
		case a.args == "":
			return a, "", fmt.Errorf("unexpected %q: mem %s takes flags only", rest[0], a.name)
		case len(rest) == 0:
			return a, "", fmt.Errorf("mem %s needs a number more than 0 and at most 1, such as mem %[1]s 0.8", a.name)
		case len(rest) > 1:
			return a, "", fmt.Errorf("unexpected %q: mem %s takes one number", rest[1], a.name)
		default:
			_, err := fraction(rest[0])
			return a, rest[0], err
		}
	}
	if len(args) == 0 {
		return memAction{}, "", fmt.Errorf("mem needs a word that says what to do: %s", strings.Join(names, ", "))
	}
	text := fmt.Sprintf("unknown word %q after mem", args[0])
	if near := settings.Nearest(args[0], names); near != "" {
		return memAction{}, "", fmt.Errorf("%s: did you mean %s?", text, near)
	}
	return memAction{}, "", fmt.Errorf("%s, want %s", text, strings.Join(names, ", "))
}

// fraction reads a share of the memory.
func fraction(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f > 0 && f <= 1) {
		return 0, fmt.Errorf("the fraction is %q, want a number more than 0 and at most 1, such as 0.8", text)
	}
	return f, nil
}

// memAsk is the action that has the run do something.
func memAsk(what string) func(context.Context, memConfig, string, streams) error {
	return func(ctx context.Context, c memConfig, arg string, s streams) error {
		request := control.Request{Ask: what, Wait: c.Wait}
		if arg != "" {
			var err error
			if request.Fraction, err = fraction(arg); err != nil {
				return err
			}
		}
		r, err := control.Ask(ctx, c.CheckpointDir, request)
		if errors.Is(err, control.ErrNoRun) {
			return fmt.Errorf("%w: give --checkpoint_dir the folder of a run in progress (mem processes names those on this machine)", err)
		}
		if err != nil {
			return err
		}
		if c.JSON {
			err = writeJSON(s.out, r)
		} else {
			_, err = io.WriteString(s.out, outcome(r))
		}
		if err == nil && !r.Done {
			err = fmt.Errorf("not done within %g s: %s", c.Wait, r.Note)
		}
		return err
	}
}

// writeJSON writes a result for programs.
func writeJSON(w io.Writer, result any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(result)
}
