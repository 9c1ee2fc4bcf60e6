package main

import (
	"errors"
	"io"

	"konkanitrain/internal/settings"
	"konkanitrain/recognize"
)

// trained is the setting of a command that uses a trained model: which one.
type trained struct {
	Checkpoint string `yaml:"checkpoint" default:"" check:"path" help:"a checkpoint's folder (step-...), a model.safetensors alone, or a checkpoint_dir: its averaged weights, else its best checkpoint, else its newest"`
}

// machine is the settings of a command that uses a trained model: what computes.
type machine struct {
	Device     string `yaml:"device" default:"auto" check:"any" help:"what computes: auto (a card, or else the CPU), cpu, cuda or cuda:N, the card with this number"`
	CUDADriver string `yaml:"cuda_driver" default:"" check:"path" zero:"the system's" help:"file of the CUDA driver's library, libcuda.so.1"`
	CUDABLAS   string `yaml:"cuda_blas" default:"" check:"path" zero:"the newest that is found" help:"file of cuBLAS, such as libcublas.so.12"`
	CPUWorkers int    `yaml:"cpu_workers" default:"0" check:"0..1024" zero:"one for each core" help:"compute workers on a CPU"`
	memoryCap  `yaml:",inline"`
}

// memoryCap is the settings of how much memory a command may hold.
type memoryCap struct {
	MemoryLimit    string  `yaml:"memory_limit" default:"auto" check:"not empty" help:"the most memory to hold in all, as 2GiB; auto: what the machine, its control group or ulimit leaves"`
	MemoryFraction float64 `yaml:"memory_fraction" default:"0" check:"share" zero:"0.9 of the machine's memory, or all of a memory_limit that is given" help:"share of the machine's memory, or of memory_limit, to hold"`
}

// apply sets what the command line gives of a command without a file, and holds it to the checks and rules. The error
// lists all problems.
func (o *options) apply(rules func(*settings.Problems)) error {
	return o.applyOver(func() error { return nil }, rules)
}

// applyOver is apply over what a file says, which read reads.
func (o *options) applyOver(read func() error, rules func(*settings.Problems)) error {
	problems := append(o.unknown, read(), o.set.Apply())
	p := o.set.Check()
	rules(p)
	if err := errors.Join(append(problems, o.set.Locate(p.Err()))...); err != nil {
		return o.usage(err)
	}
	return nil
}

// rules are what the settings of a command that uses a trained model have to agree with.
func (t trained) rules(p *settings.Problems) {
	p.Add(needFile("checkpoint", t.Checkpoint, "PATH"))
	p.Add(notPyTorch("checkpoint", t.Checkpoint))
}

func (m machine) rules(p *settings.Problems) {
	p.Add(settings.About("device", m.device().Check()))
	m.memoryCap.rules(p)
}

func (m memoryCap) rules(p *settings.Problems) {
	_, _, err := m.memory().Budget()
	p.Add(settings.About("memory_limit", err))
}

func (m memoryCap) memory() recognize.Memory {
	return recognize.Memory{Limit: m.MemoryLimit, Fraction: m.MemoryFraction}
}

func (m machine) device() recognize.DeviceSetting {
	return recognize.DeviceSetting{Name: m.Device, Driver: m.CUDADriver, BLAS: m.CUDABLAS}
}

// open loads the model. A device that can't be used is a mistake in the command line.
func (o *options) open(t trained, m machine, log io.Writer) (*recognize.Model, error) {
	model, err := recognize.Load(t.Checkpoint, recognize.LoadOptions{Device: m.device(), Workers: m.CPUWorkers, Memory: m.memory(), Log: log})
	var refused *recognize.DeviceError
	if errors.As(err, &refused) && !recognize.OutOfMemory(err) {
		err = o.usage(err)
	}
	return model, err
}
