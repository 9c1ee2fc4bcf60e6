package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"konkanitrain/internal/settings"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
	"konkanitrain/train"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitAgain       = 75  // out of memory, or the card failed; the state is saved: EX_TEMPFAIL of sysexits.h, "try again"
	exitInterrupted = 130 // what a shell reports for SIGINT
	exitBroken      = 134 // what it reports for SIGABRT, by which a breakdown ends the program: see abortOnBreakdown
)

// streams are where a command writes: results and progress to out, complaints to err.
type streams struct{ out, err io.Writer }

// command is one word after the program's name.
type command struct {
	name    string
	args    string // what follows the name, in short
	summary string
	onStop  string // what the first Ctrl-C does, for the user
	saves   bool   // it has something to save when it is stopped
	run     func(ctx context.Context, args []string, s streams) error
}

// commands are all commands, the default one first. Help is beside them, for it lists them.
func commands() []command {
	return []command{trainCommand(), dataCommand(), planCommand(), evalCommand(), transcribeCommand(), alignCommand(), lmCommand(), exportCommand(), infoCommand(), memCommand(), watchCommand(), versionCommand()}
}

// usageError is a mistake in the command line or in a configuration: nothing was begun.
type usageError struct {
	err     error
	command string // whose help to read; "" for the list of commands
}

// Error is the mistake alone; where to read about it is added when it is printed.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap is the mistake.
func (e *usageError) Unwrap() error { return e.err }

// errPanic is the error of a command that has panicked.
var errPanic = errors.New("a mistake in the program itself")

// errHelpWanted is the error of -h and --help.
var errHelpWanted = errors.New("help wanted")

// run does what the arguments ask for and returns the exit code. Nothing that it calls can end the program with
// a panic, in so far as the panic is in the same goroutine.
func run(args []string, s streams) int {
	cmd, rest, err := choose(args)
	if err == nil {
		ctx, stop := interruptible(s.err, cmd)
		defer stop()
		err = untilStopped(ctx, func() (err error) {
			defer func() {
				if r := recover(); r != nil {
					reportPanic(s.err, args, r, debug.Stack())
					err = errPanic
				}
			}()
			return cmd.run(ctx, rest, s)
		})
	}
	if errors.Is(err, errHelpWanted) {
		err = printHelp(s.out, cmd.name)
	}
	return report(s.err, err)
}

// choose finds the command, and what is left of the arguments. Without a name it is the first command.
func choose(args []string) (command, []string, error) {
	all := commands()
	if len(args) == 0 {
		return helpCommand(), nil, nil
	}
	switch args[0] {
	case "help":
		return helpCommand(), args[1:], nil
	case "--help", "-h":
		return helpCommand(), nil, nil
	case "--version":
		return versionCommand(), args[1:], nil
	}
	if strings.HasPrefix(args[0], "-") {
		return all[0], args, nil
	}
	for _, c := range all {
		if c.name == args[0] {
			return c, args[1:], nil
		}
	}
	return command{}, nil, unknownCommand(args[0])
}

func unknownCommand(name string) error {
	names := []string{"help"}
	for _, c := range commands() {
		names = append(names, c.name)
	}
	text := fmt.Sprintf("unknown command %q", name)
	if near := settings.Nearest(name, names); near != "" {
		text += ": did you mean " + near + "?"
	}
	return &usageError{err: errors.New(text)}
}

// report prints an error and returns the exit code that belongs to it.
func report(w io.Writer, err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errPanic): // is told already
		return exitBroken
	case errors.As(err, &usage):
		printProblems(w, usage.err)
		fmt.Fprintf(w, "`%s` says what is possible.\n", strings.TrimSpace("konkanitrain help "+usage.command))
		return exitUsage
	case errors.Is(err, train.ErrInterrupted):
		fmt.Fprintf(w, "konkanitrain: %v\n", err)
		return exitInterrupted
	case errors.Is(err, context.Canceled): // before there was anything to save
		fmt.Fprintln(w, "konkanitrain: interrupted")
		return exitInterrupted
	}
	fmt.Fprintf(w, "konkanitrain: %v\n", err)
	if errors.Is(err, train.ErrOutOfMemory) || errors.Is(err, train.ErrCardLost) || recognize.OutOfMemory(err) {
		return exitAgain
	}
	return exitFailed
}

// printProblems lists joined problems, one a line.
func printProblems(w io.Writer, err error) {
	problems := settings.Flatten(err)
	if len(problems) == 1 {
		fmt.Fprintf(w, "konkanitrain: %v\n", problems[0])
		return
	}
	fmt.Fprintf(w, "konkanitrain: %d problems with the settings:\n", len(problems))
	for _, p := range problems {
		fmt.Fprintf(w, "  %s\n", strings.ReplaceAll(p.Error(), "\n", "\n  "))
	}
}

// reportPanic explains a panic: it is a mistake in this program, whatever the user did.
func reportPanic(w io.Writer, args []string, what any, stack []byte) {
	line := programName
	for _, arg := range args {
		line += " " + words.Shell(arg)
	}
	fmt.Fprintf(w, `konkanitrain: stopped by a mistake in the program itself: %v
Checkpoints saved so far are whole: --resume auto goes on from the newest one.
Please report this, with the command line and all of the text below:
  %s
%s
%s`, what, line, buildText(), stack)
}
