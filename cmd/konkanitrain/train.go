package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"konkanitrain/data"
	"konkanitrain/internal/settings"
	"konkanitrain/recognize"
	"konkanitrain/train"
)

func trainCommand() command {
	return command{
		name: "train", args: "[flags]", summary: "train a model, or go on with one (--resume auto); the default command",
		onStop: "stopping; training hasn't begun, and nothing is saved", saves: true, run: runTrain,
	}
}

func runTrain(ctx context.Context, args []string, s streams) error {
	config := train.Default()
	o, err := newTrainOptions("train", &config)
	if err != nil {
		return err
	}
	if err := o.parse(args); err != nil {
		return err
	}
	o.noArguments()
	if err := o.load(&config); err != nil {
		return o.usage(err)
	}
	o.sayEmpty(s.out)
	if o.origin != nil && o.origin.Checkpoint != nil {
		sayOnStop(ctx, "stopping; training hasn't gone on yet, and the checkpoint stays as it is")
	}
	begun := func() {
		if r := config.Run; r.FindLR || r.ProfileSteps > 0 {
			finishOnStop(ctx, "finishing this update and showing what was measured; nothing is saved")
		} else {
			finishOnStop(ctx, "finishing this update and saving")
		}
	}
	_, err = train.Run(ctx, config, train.Options{Out: s.out, Origin: o.origin, Device: o.device, Program: ownName(), Begun: begun})
	return err
}

// ownName is what a person has typed to start this program, with the folder where that was needed, if it has one of its
// names; "" if it hasn't. What `go run` has made is gone when it has ended.
func ownName() string {
	typed := os.Args[0]
	name := filepath.Base(typed)
	switch {
	case name != programName && name != gpuName:
		return ""
	case strings.Contains(typed, "go-build"):
		return name
	}
	return typed
}

// trainOptions are the settings of a run and the YAML files they may come from.
type trainOptions struct {
	*options
	source    source
	sourceSet *settings.Set
	empty     []string          // the files that hold no setting
	device    *recognize.Device // what computes, opened; nil before load
	origin    *train.Origin     // what a resumed run goes on from, opened for its settings; nil for a new run
}

// source is the flag for the files of settings.
type source struct {
	Config []string `yaml:"config" default:"" check:"not empty path" help:"YAML file of settings; may be given several times: a later file overrules an earlier one"`
}

func newTrainOptions(command string, config *train.Config) (*trainOptions, error) {
	base, err := newOptions(command, config)
	if err != nil {
		return nil, err
	}
	o := &trainOptions{options: base}
	if o.sourceSet, err = settings.Of(&o.source); err != nil {
		return nil, err
	}
	o.sourceSet.Flags(o.flags)
	return o, nil
}

// load fills config, and looks at this machine. The error lists every problem.
func (o *trainOptions) load(config *train.Config) error {
	if err := o.fill(config); err != nil {
		return errors.Join(err, o.set.Locate(o.checkNamed(config)))
	}
	return o.set.Locate(o.checkMachine(config))
}

// fill fills config: what a resumed checkpoint was saved with over the defaults, the files over that, flags over the
// files.
func (o *trainOptions) fill(config *train.Config) error {
	err := o.given()
	if config.Run.Resume != "" {
		if err == nil {
			err = o.resume(config)
		} else {
			_, wrong := train.FindOrigin(config.Run)
			err = errors.Join(err, settings.About("resume", wrong))
		}
	}
	return errors.Join(err, o.set.Locate(config.Validate()))
}

// given sets what the files and the flags say.
func (o *trainOptions) given() error {
	problems := append(o.unknown, o.sourceSet.Apply(), o.sourceSet.Check().Err())
	o.empty = nil
	if errors.Join(problems...) == nil {
		for _, file := range o.source.Config {
			problems = append(problems, o.file(file))
		}
	}
	return errors.Join(append(problems, o.set.Apply())...)
}

// file sets what one file says.
func (o *trainOptions) file(path string) error {
	document, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	err = o.set.YAML(path, document)
	if !o.set.Gave(path) {
		o.empty = append(o.empty, path)
	}
	return err
}

// sayEmpty says which files hold no setting.
func (o *trainOptions) sayEmpty(w io.Writer) {
	used := ""
	if n := len(o.source.Config); n == len(o.empty) {
		used = ": the defaults are used"
		if o.origin != nil && o.origin.Checkpoint != nil {
			used = ": the checkpoint's settings are used"
		}
	}
	for _, file := range o.empty {
		fmt.Fprintf(w, "NOTE: %s holds no setting%s\n", file, used)
	}
}

// checkMachine looks at what the settings name: manifests, folders and the device.
func (o *trainOptions) checkMachine(config *train.Config) error {
	r := config.Run
	device, failed := r.OpenDevice()
	if err := errors.Join(o.checkInputs(config), failed); err != nil {
		device.Close()
		return err // and no folder is made
	}
	if err := r.CheckFolder(); err != nil {
		device.Close()
		return settings.About("checkpoint_dir", err)
	}
	problems := []error{writable("checkpoint_dir", r.CheckpointDir)}
	if r.LogDir != "" {
		problems = append(problems, writable("log_dir", r.LogDir))
	}
	if folder := r.BoardFolder(); folder != "" {
		problems = append(problems, writable("tensorboard", folder))
	}
	if err := errors.Join(problems...); err != nil {
		device.Close()
		return err
	}
	o.device = device
	return nil
}

// checkInputs looks at what is read: manifests and checkpoints.
func (o *trainOptions) checkInputs(config *train.Config) error {
	r := config.Run
	var problems []error
	if strings.Join(config.Data.TrainManifest, "") == "" {
		if r.Resume == "auto" && (o.origin == nil || o.origin.Checkpoint == nil) { // it would have named it
			problems = append(problems, fmt.Errorf("resume auto: there is no checkpoint in %s to go on from", r.CheckpointDir))
		}
		problems = append(problems, o.manifest("train_manifest", ""))
	}
	return errors.Join(append(problems, o.checkNamed(config))...)
}

// manifests looks at those that a setting names.
func (o *trainOptions) manifests(key string, texts []string) error {
	list, err := data.ParseManifests(texts)
	problems := []error{settings.About(key, err)}
	for _, m := range list {
		problems = append(problems, o.manifest(key, m.Path))
	}
	return errors.Join(problems...)
}

// checkNamed looks at the manifests and the checkpoint that the settings name.
func (o *trainOptions) checkNamed(config *train.Config) error {
	d, r := config.Data, config.Run
	problems := []error{
		o.manifests("train_manifest", d.TrainManifest), o.manifests("val_manifest", d.ValManifest), o.manifests("test_manifest", d.TestManifest),
		o.manifests("noise_manifest", d.NoiseManifest),
	}
	if file := d.TokenizerFile(); file != "" && r.Resume == "" { // a checkpoint holds it
		problems = append(problems, needFile("tokenizer", file, "NAME.model"))
	}
	if r.InitFrom != "" {
		problems = append(problems, needFile("init_from", r.InitFrom, "CHECKPOINT"), manyCheckpoints("init_from", r.InitFrom), notPyTorch("init_from", r.InitFrom))
	}
	return errors.Join(problems...)
}

// manifest is the problem with a manifest's path. A path that is right only from where the YAML file lies is
// named, not followed: one configuration must mean the same with its flags and without.
func (o *trainOptions) manifest(key, path string) error {
	err := needManifest(key, path)
	file := o.set.Lookup(key).File()
	if err == nil || path == "" || filepath.IsAbs(path) || file == "" {
		return err
	}
	beside := filepath.Join(filepath.Dir(file), path)
	if _, statErr := os.Stat(beside); statErr == nil {
		return fmt.Errorf("%w: paths start at the working directory; %s is there, if that is meant", err, beside)
	}
	return fmt.Errorf("%w: paths start at the working directory", err)
}
