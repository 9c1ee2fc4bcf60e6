package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"konkanitrain/checkpoint"
	"konkanitrain/data"
	"konkanitrain/internal/settings"
	"konkanitrain/train"
)

// options are a command's settings as flags.
type options struct {
	command string
	set     *settings.Set
	flags   *pflag.FlagSet
	unknown []error // flags that there are not, and what else stood on the command line by mistake
}

// newOptions fills config, a pointer to a struct, with its defaults and makes a flag for each of its fields.
func newOptions(command string, config any) (*options, error) {
	set, err := settings.Of(config)
	if err != nil {
		return nil, err
	}
	settings.Defaults(config)
	fs := pflag.NewFlagSet(command, pflag.ContinueOnError)
	fs.SetNormalizeFunc(settings.Underscores)
	fs.SortFlags = false
	fs.Usage = func() {}
	set.Flags(fs)
	return &options{command: command, set: set, flags: fs}, nil
}

// parse reads the command line; values are looked at later, by settings.Set.Apply. Flags that there are not are kept
// for that time too, so that all mistakes are told at once.
func (o *options) parse(args []string) error {
	err := o.flags.Parse(o.known(args))
	var unknown *pflag.NotExistError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pflag.ErrHelp):
		return errHelpWanted
	case errors.As(err, &unknown):
		err = o.unknownFlag(unknown)
	}
	return o.usage(errors.Join(append(o.unknown, err)...))
}

// known leaves out flags that there are not, and what looks like their values.
func (o *options) known(args []string) []string {
	var kept []string
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "--")
		if args[i] == "--" {
			return append(kept, args[i:]...)
		}
		name, _, hasValue := strings.Cut(name, "=")
		f := o.flags.Lookup(name)
		switch {
		case !isFlag || name == "" || name == "help":
			kept = append(kept, args[i])
		case f == nil:
			o.unknown = append(o.unknown, o.unknownName(name))
			if !hasValue && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				i++
			}
		case hasValue || f.NoOptDefVal != "" || i+1 == len(args):
			kept = append(kept, args[i])
		default: // the next one is its value, whatever that is
			kept = append(kept, args[i], args[i+1])
			i++
		}
	}
	return kept
}

func (o *options) unknownFlag(err *pflag.NotExistError) error {
	short := err.GetSpecifiedShortnames()
	if short == "" {
		return o.unknownName(err.GetSpecifiedName())
	}
	if near := o.nearest(short); near != "" {
		return fmt.Errorf("unknown flag -%s: did you mean --%s, with two dashes?", short, near)
	}
	return fmt.Errorf("unknown flag -%s: flags have two dashes and a name", short)
}

func (o *options) unknownName(name string) error {
	if near := o.nearest(name); near != "" {
		return fmt.Errorf("unknown flag --%s: did you mean --%s?", name, near)
	}
	return fmt.Errorf("unknown flag --%s", name)
}

// nearest is the flag that name was meant to be.
func (o *options) nearest(name string) string {
	name, _, _ = strings.Cut(name, "=")
	var names []string
	o.flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return settings.Nearest(name, names)
}

// noArguments makes a mistake of what is left over beside flags.
func (o *options) noArguments() {
	if o.flags.NArg() == 0 {
		return
	}
	arg := o.flags.Arg(0)
	err := fmt.Errorf("unexpected %q: %s takes flags only", arg, o.command)
	if arg == "true" || arg == "false" {
		err = fmt.Errorf("unexpected %q: a switch takes its value with an equals sign, as in --fp16=%s", arg, arg)
	}
	for _, c := range commands() {
		if c.name == arg {
			err = fmt.Errorf("%q: the command comes first, before all flags", arg)
		}
	}
	o.unknown = append(o.unknown, err)
}

// usage makes err a mistake of the user's. Nothing is wrong with the settings where memory or a disk is full.
func (o *options) usage(err error) error {
	settled := func(e error) bool { return !checkpoint.Full(e) }
	if errors.Is(err, train.ErrOutOfMemory) || !slices.ContainsFunc(settings.Flatten(err), settled) {
		return err
	}
	return &usageError{err, o.command}
}

// needFile is the problem with a file or folder that has to be there; nil if it is.
func needFile(key, path, what string) error {
	if path == "" {
		return settings.Problemf(key, "%s is not set: give --%s %s", key, key, what)
	}
	_, err := os.Stat(path)
	switch from, wrong := os.Getwd(); {
	case err == nil:
		return nil
	case wrong == nil && errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(path): // a file of settings may lie elsewhere
		return settings.Problemf(key, "%s: %w: it was looked for in %s", key, err, from)
	}
	return settings.Problemf(key, "%s: %w", key, err)
}

// manifestForms is what a manifest may be, for help.
const manifestForms = "FILE (JSON lines, CSV, Common Voice TSV, a Kaldi folder, tars or Parquet)"

// needManifest is needFile for a manifest, which may be a pattern such as shard-{000..009}.tar.
func needManifest(key, path string) error {
	if is, err := data.Pattern(path); is {
		if err != nil {
			return settings.Problemf(key, "%s: %w", key, err)
		}
		return nil
	}
	return needFile(key, path, manifestForms)
}
