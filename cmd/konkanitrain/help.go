package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"konkanitrain/internal/settings"
	"konkanitrain/train"
)

func helpCommand() command {
	return command{
		name: "help", args: "[command]", summary: "explain a command", onStop: "stopping",
		run: func(_ context.Context, args []string, s streams) error {
			if len(args) > 1 {
				return &usageError{errors.New("help takes one command"), "help"}
			}
			name := ""
			if len(args) == 1 && args[0] != "--help" && args[0] != "-h" {
				name = args[0]
			}
			return printHelp(s.out, name)
		},
	}
}

// printHelp explains one command, or the program with its default command.
func printHelp(w io.Writer, name string) error {
	var text string
	var err error
	switch name {
	case "", "help":
		text, err = trainHelp()
		text = overview() + text
	case "train":
		text, err = trainHelp()
		text = usageLine(trainCommand()) + text
	case "data":
		text, err = dataHelp()
	case "plan":
		text, err = planHelp()
	case "eval":
		text, err = evalHelp()
	case "transcribe":
		text, err = transcribeHelp()
	case "align":
		text, err = alignHelp()
	case "export":
		text, err = exportHelp()
	case "info":
		text, err = infoHelp()
	case "lm":
		text, err = lmHelp()
	case "mem":
		text, err = memHelp()
	case "watch":
		text, err = watchHelp()
	case "version":
		text = usageLine(versionCommand())
	default:
		return unknownCommand(name)
	}
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

func usageLine(c command) string {
	return fmt.Sprintf("konkanitrain %s\n\n%s.\n", strings.TrimSpace(c.name+" "+c.args), strings.ToUpper(c.summary[:1])+c.summary[1:])
}

func overview() string {
	var s strings.Builder
	s.WriteString("konkanitrain trains small Conformer speech recognizers on the machine at hand.\n\nCommands:\n")
	for _, c := range append(commands(), helpCommand()) {
		fmt.Fprintf(&s, "  %-41s %s\n", strings.TrimSpace(c.name+" "+c.args), c.summary)
	}
	s.WriteString("\nWithout a command, flags are those of train:\n")
	return s.String()
}

func trainHelp() (string, error) {
	config := train.Default()
	t, err := newTrainOptions("train", &config)
	if err != nil {
		return "", err
	}
	return `
  konkanitrain --train_manifest train.jsonl --val_manifest dev.jsonl --batch_size 2 --grad_accum 4 --fp16
  konkanitrain --config configs/optimized.yaml --train_manifest train.jsonl --val_manifest dev.jsonl
  konkanitrain --checkpoint_dir runs/optimized --resume auto

Every setting is a flag and a key of the YAML file that --config names (batch_size: 2). Flags overrule the file,
the file overrules the defaults; a resumed run takes what neither of them gives from its checkpoint. Of several
--config a later one overrules an earlier one. Flags may be written with - for _. Paths, also those in a YAML file,
start at the working directory, and ~/ at their start is the home folder; those inside a manifest start at the
manifest.` + t.otherNames() + `

Ctrl-C (or SIGTERM, or a closed terminal) finishes the update, saves and exits with code 130; a second one, half a
second later or more, stops at once.
` + exitCodes + t.usages(), nil
}

// exitCodes are the exit codes of all commands, for the user.
const exitCodes = `
Exit codes:
  0    done
  1    failed: the last lines say why, and what is saved
  2    a mistake in the command line or the configuration: nothing was begun
  75   out of memory, or the card failed; what was learned, if anything, is saved
  130  interrupted; the state is saved, if there was one
  134  the program broke down by a mistake of its own; the checkpoints saved before are whole
`

// otherNames is a line for each setting that has another name.
func (o *options) otherNames() string {
	var s strings.Builder
	for _, x := range o.set.All {
		for _, name := range x.Aliases {
			fmt.Fprintf(&s, "\n%s is another name for %s.", name, x.Key)
		}
	}
	return s.String()
}

// groupTitles are the headings of the groups of train.Config, where its field's name isn't one.
var groupTitles = map[string]string{"": "Flags", "Optimizer": "Optimization"}

// usages lists the flags by subject.
func (o *options) usages() string {
	var s strings.Builder
	for _, group := range o.set.Groups() {
		title := group
		if t, ok := groupTitles[group]; ok {
			title = t
		}
		part := pflag.NewFlagSet(group, pflag.ContinueOnError)
		part.SortFlags = false
		o.flags.VisitAll(func(f *pflag.Flag) {
			if x := o.set.Lookup(f.Name); x != nil && x.Group == group {
				part.AddFlag(f)
			}
		})
		fmt.Fprintf(&s, "\n%s:\n%s", title, part.FlagUsagesWrapped(helpWidth()))
	}
	rest := pflag.NewFlagSet("other", pflag.ContinueOnError)
	o.flags.VisitAll(func(f *pflag.Flag) {
		if o.set.Lookup(f.Name) == nil {
			rest.AddFlag(f)
		}
	})
	if rest.HasFlags() {
		fmt.Fprintf(&s, "\nConfiguration:\n%s", rest.FlagUsagesWrapped(helpWidth()))
	}
	return s.String()
}

// ownUsages lists the flags of set, a command's own beside those of train, and that of the YAML file.
func (o *trainOptions) ownUsages(set *settings.Set) string {
	own := pflag.NewFlagSet(o.command, pflag.ContinueOnError)
	own.SortFlags = false
	o.flags.VisitAll(func(f *pflag.Flag) {
		if set.Lookup(f.Name) != nil || o.sourceSet.Lookup(f.Name) != nil {
			own.AddFlag(f)
		}
	})
	return own.FlagUsagesWrapped(helpWidth())
}

// helpWidth is the width of the terminal in columns, 110 where there is none.
func helpWidth() int {
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width >= 60 {
		return width
	}
	return 110
}
