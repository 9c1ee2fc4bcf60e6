package train

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"konkanitrain/device"
	"konkanitrain/engine"
	"konkanitrain/model"
	"konkanitrain/recognize"
	"konkanitrain/update"
)

// setUp brings a run to the point where its first update can be made. What can be refused is refused before
// anything large is allocated. When ctx ends, setting up does too, soon, and the error is its cause: nothing is saved.
func setUp(ctx context.Context, cfg Config, o Options) (*run, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if !anyGiven(cfg.Data.TrainManifest) {
		return nil, errors.New("train_manifest is not set: there is nothing to train on")
	}
	report := newReporter(o.Out)
	r := &run{
		cfg: cfg, index: filepath.Join(cfg.Run.CheckpointDir, indexDir), first: true, base: baseBytes(), buffersOnly: o.buffersOnly, staged: map[string]string{},
		report: report, ledger: newLedger(cfg, report),
	}
	if cfg.Run.FindLR {
		r.finding = &finding{}
	}
	if cfg.Run.measuring() { // its few updates stand for all: no epoch is an easier one
		r.cfg.Data.SortFirstEpochs, r.cfg.Data.LightFirstEpochs = 0, 0
	}
	r.ledger.program = cmp.Or(o.Program, r.ledger.program)
	r.ledger.record, r.ledger.settle, r.ledger.renewed = r.record, r.settle, r.folderRenewed
	if o.Origin != nil && o.Origin.Checkpoint == nil {
		r.ledger.sayNew()
	}
	if err := r.openPage(); err != nil {
		return nil, err
	}
	if err := r.openDevice(o); err != nil {
		r.remote.close()
		return nil, err
	}
	r.stage("Start")
	for _, part := range []func() error{
		func() error { return r.ledger.open(o.Origin) },
		func() error { return r.loadNoise(ctx) },
		func() error { return r.readNoise(ctx) },
		func() error { return r.loadData(ctx) },
		r.setWarmup,
		r.at("Data Loaded"),
		func() error { return r.allocate(ctx) },
		r.at("Model Built"),
		r.restore,
		r.at("Weights Ready"),
		r.planMemory,
		r.at("Planned"),
		r.ledger.makeRoom,
		r.begin,
		r.listen,
		r.show,
		until(ctx),
	} {
		err := context.Cause(ctx)
		if err == nil {
			err = part()
		}
		if err != nil {
			err = r.withUsers(r.withMemoryAdvice(err))
			r.close()
			return nil, err
		}
	}
	r.library.Until = nil // an update that is begun is finished
	return r, nil
}

// until is an error once ctx has ended: its cause.
func until(ctx context.Context) func() error {
	return func() error { return context.Cause(ctx) }
}

// at is a part of setting up that only logs the memory.
func (r *run) at(stage string) func() error {
	return func() error {
		r.stage(stage)
		return nil
	}
}

// openDevice opens what computes, unless it was given, and the pools of its memory.
func (r *run) openDevice(o Options) (err error) {
	if r.device = o.Device; r.device == nil {
		if r.device, err = r.cfg.Run.OpenDevice(); err != nil {
			return err
		}
	}
	r.report.say("device: %v (%s)", r.device, r.device.Why)
	if r.computing = o.computing; r.computing == nil {
		r.computing = r.device
	}
	under := o.memory
	if under == nil {
		under = device.NewHost()
	}
	if err := r.openPools(under); err != nil {
		r.device.Close()
		return err
	}
	return nil
}

// allocate makes the network, what makes updates of it, and what scores it.
func (r *run) allocate(ctx context.Context) error {
	r.net = r.cfg.Network(r.ledger.state.Vocabulary.Size())
	counts := model.Count(r.net)
	r.ledger.state.Parameters = counts.Total
	r.report.say("model: %v; vocabulary %d", counts, r.ledger.state.Vocabulary.Size())
	if err := r.sayTuning(); err != nil {
		return err
	}
	if err := r.refuseHuge(); err != nil {
		return lacking(err)
	}
	network, err := update.NetworkOn(r.computing.Target(), r.net, r.cfg.Tuning())
	if err != nil {
		return err
	}
	r.library = engine.NewLibrary(network)
	r.library.Until = until(ctx)
	r.account(0)
	workers, err := r.chooseWorkers(r.library)
	if err != nil {
		return err
	}
	replica, err := r.computing.NewReplica(r.pools, r.library, workers, r.cfg.Run.FP16, true)
	if err != nil {
		return err
	}
	r.equip(replica)
	r.judge = recognize.New(r.net, replica, r.cfg.Optimizer.BatchSize, r.ledger.state.Vocabulary, r.cfg.Policy())
	r.judge.Share(r.fit())
	if r.sets.val != nil {
		if err := r.judge.MeasureConfidences(); err != nil {
			return err
		}
	}
	r.ledger.memory, r.ledger.kernels = newMemory(replica, r.net, r.cfg.Tuning()), r.kernels()
	if err := r.prepareSnapshot(); err != nil {
		return err
	}
	if r.profiling() {
		replica.StartProfile()
	}
	return nil
}

// equip takes a replica, and makes what makes updates of it.
func (r *run) equip(replica update.Replica) {
	r.replica = replica
	c := r.cfg.Optimizer
	r.updater = update.New(r.net, replica, update.Options{
		BatchSize: c.BatchSize, Half: r.cfg.Run.FP16, Seed: r.cfg.Run.Seed, Rate: r.rate,
		WeightDecay: c.WeightDecay, GradClip: c.GradClip, EMADecay: c.EMADecay,
	})
	fit := r.fit()
	fit.Recompute, fit.Rigid, fit.Leave = r.cfg.Run.ways(), !r.cfg.Run.AutoFit, r.cfg.Run.OnOOM == "skip"
	fit.Relieved = r.relieved
}

// restore sets weights, moments, counters and the learning rate's schedule, and says where the run stands.
func (r *run) restore() error {
	if err := r.ledger.restore(r.updater, r.sets.train, r.sets.loader.Windows()); err != nil {
		return err
	}
	r.setSchedule()
	r.ledger.keep()
	return nil
}

// begin opens metrics.jsonl, writes its first record, and warns of what can be seen before the first update.
func (r *run) begin() error {
	r.sayRates()
	r.warnOfWarmup()
	r.warnOfSchedule()
	r.warnOfLightEpochs()
	r.metrics, r.validations = &metrics{}, &validationLog{} // which write nothing
	if !r.cfg.Run.measuring() {
		if err := r.ledger.checkSpace(); err != nil {
			return err
		}
		r.forgetMetrics()
		var err error
		if r.metrics, err = openMetrics(r.logDir(), r.logRun()); err != nil {
			return err
		}
		r.metrics.tell = r.tell
		if err := r.openBoard(); err != nil {
			return err
		}
		if err := r.openValidations(); err != nil {
			return err
		}
	}
	first := map[string]any{"update": r.updater.Updates}
	if from := r.ledger.origin.Checkpoint; from != nil {
		// Of the records before this one those of later updates are made again; where another run was writing to the file
		// they could not be removed.
		first["resumed_at"], first["logged_at"] = r.updater.Updates, r.ledger.place.logged
		if !r.ledger.inside(from.Path) {
			first["from"] = from.Path
		}
	}
	r.recordStart(first)
	if err := r.openTracker(); err != nil { // what was told before the start is of another run
		return err
	}
	r.report.begin(pace{begun: r.updater.Updates, total: r.total(), epochs: r.epochs(), sorted: r.cfg.Data.SortFirstEpochs})
	r.ledger.started = time.Now()
	return nil
}

// recordStart records with what the run begins, or goes on, and with what settings.
func (r *run) recordStart(first map[string]any) {
	r.recordValidation("start", first)
	s := &r.ledger.state
	first["total"], first["parameters"], first["workers"], first["config"] = r.total(), s.Parameters, r.replica.Wishes().Workers, s.Config
	r.record("start", first)
}

func (r *run) logDir() string {
	if r.cfg.Run.LogDir != "" {
		return r.cfg.Run.LogDir
	}
	return r.cfg.Run.CheckpointDir
}
