package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"konkanitrain/internal/settings"
	"konkanitrain/recognize"
	"konkanitrain/train"
)

func trainCommand() command {
	return command{
		name: "train", args: "[flags]", summary: "train a model, or go on with one (--resume auto); the default command",
		onStop: "finishing this update and saving", saves: true, run: runTrain,
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
	if err := o.noArguments(); err != nil {
		return err
	}
	if err := o.load(&config); err != nil {
		return o.usage(err)
	}
	if o.emptyFile {
		used := "the defaults are"
		if config.Run.Resume != "" {
			used = "the checkpoint's settings or the defaults are"
		}
		fmt.Fprintf(s.out, "NOTE: %s holds no setting: %s used\n", o.source.Config, used)
	}
	_, err = train.Run(ctx, config, train.Options{Out: s.out, Origin: o.origin, Device: o.device, Program: ownName()})
	return err
}

// ownName is what a person has typed to start this program, if that is one of its names; "" if it isn't.
func ownName() string {
	if name := filepath.Base(os.Args[0]); name == programName || name == gpuName {
		return name
	}
	return ""
}

// trainOptions are the settings of a run and the YAML file they may come from.
type trainOptions struct {
	*options
	source    source
	sourceSet *settings.Set
	emptyFile bool              // the file holds no setting
	device    *recognize.Device // what computes, opened; nil before load
	origin    *train.Origin     // what a resumed run goes on from, opened for its settings; nil for a new run
}

// source is the flag for the file of settings.
type source struct {
	Config string `yaml:"config" default:"" check:"path" help:"YAML file of settings"`
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
		return err
	}
	return o.set.Locate(o.checkMachine(config))
}

// fill fills config: what a resumed checkpoint was saved with over the defaults, the file over that, flags over the
// file.
func (o *trainOptions) fill(config *train.Config) error {
	err := o.given()
	if err == nil && config.Run.Resume != "" {
		err = o.resume(config)
	}
	return errors.Join(err, o.set.Locate(config.Validate()))
}

// given sets what the file and the flags say.
func (o *trainOptions) given() error {
	problems := []error{o.sourceSet.Apply(), o.sourceSet.Check().Err()}
	if errors.Join(problems...) == nil && o.flags.Changed("config") {
		document, err := os.ReadFile(o.source.Config)
		if err != nil {
			problems = append(problems, fmt.Errorf("config: %w", err))
		} else {
			problems = append(problems, o.set.YAML(o.source.Config, document))
			o.emptyFile = !o.set.Gave(o.source.Config)
		}
	}
	return errors.Join(append(problems, o.set.Apply())...)
}

// checkMachine looks at what the settings name: manifests, folders and the device.
func (o *trainOptions) checkMachine(config *train.Config) error {
	r := config.Run
	device, failed := r.OpenDevice()
	if err := errors.Join(o.checkInputs(config), failed); err != nil {
		device.Close()
		return err // and no folder is made
	}
	problems := []error{writable("checkpoint_dir", r.CheckpointDir)}
	if r.LogDir != "" {
		problems = append(problems, writable("log_dir", r.LogDir))
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
	d, r := config.Data, config.Run
	problems := []error{o.manifest("train_manifest", d.TrainManifest)}
	if r.Resume == "auto" && d.TrainManifest == "" { // a checkpoint would have named it
		problems = append(problems, fmt.Errorf("resume auto: there is no checkpoint in %s to go on from", r.CheckpointDir))
	}
	if r.InitFrom != "" {
		problems = append(problems, needFile("init_from", r.InitFrom, "CHECKPOINT"), manyCheckpoints("init_from", r.InitFrom))
	}
	if d.ValManifest != "" {
		problems = append(problems, o.manifest("val_manifest", d.ValManifest))
	}
	if d.TestManifest != "" {
		problems = append(problems, o.manifest("test_manifest", d.TestManifest))
	}
	return errors.Join(problems...)
}

// manifest is the problem with a manifest's path. A path that is right only from where the YAML file lies is
// named, not followed: one configuration must mean the same with its flags and without.
func (o *trainOptions) manifest(key, path string) error {
	err := needFile(key, path, "FILE (JSON lines, CSV, Common Voice TSV or a Kaldi folder)")
	if err == nil || path == "" || filepath.IsAbs(path) || o.set.Lookup(key).Where() == "" {
		return err
	}
	beside := filepath.Join(filepath.Dir(o.source.Config), path)
	if _, statErr := os.Stat(beside); statErr == nil {
		return fmt.Errorf("%w: paths start at the working directory; %s is there, if that is meant", err, beside)
	}
	return fmt.Errorf("%w: paths start at the working directory", err)
}
