package train

import (
	"time"

	"konkanitrain/data"
	"konkanitrain/update"
)

// sums are the figures of the updates since the last record of metrics. They are a part of the state: the first record
// after a resume is that of the uninterrupted run.
type sums struct {
	Updates    int     `json:"updates"`
	Loss       float64 `json:"loss"` // nats, summed over utterances, as are
	CTC        float64 `json:"ctc"`
	CE         float64 `json:"ce"`
	Norm       float64 `json:"norm"` // of the last gradient
	Rate       float64 `json:"rate"` // of the last update
	Utterances int     `json:"utterances"`
	Infeasible int     `json:"infeasible"`
	Audio      float64 `json:"audio"`   // seconds of sound
	Seconds    float64 `json:"seconds"` // of training
	Waited     float64 `json:"waited"`  // of them, for data
}

// meter adds the figures between two records up, and measures the time that they took.
type meter struct {
	stream *data.Stream  // nil before start
	at     time.Time     // until when time is counted
	waited time.Duration // for data, until then
	shown  int           // update of the last record, in an earlier session too

	session session
}

func (m *meter) start(s *data.Stream) { m.stream, m.at, m.waited = s, time.Now(), 0 }

// leaveOut takes time that was not training out of the speeds.
func (m *meter) leaveOut(d time.Duration) { m.at = m.at.Add(d) }

// add adds a window to the figures, and at the logging interval and at the end shows and writes them. The figures begin
// anew at the logging interval alone: a run that goes on after its end has the records of one that never ended there.
func (m *meter) add(r *run, out update.Outcome) {
	s := &r.ledger.state.Since
	s.Loss += out.Loss
	s.CTC += out.CTC
	s.CE += out.CE
	s.Audio += out.Audio
	m.session.audio += out.Audio
	s.Infeasible += out.Infeasible
	m.count(s)
	n := r.updater.Updates
	if out.Skipped == update.Made {
		s.Updates++
		s.Utterances += out.Utterances
		s.Norm, s.Rate = out.Norm, r.updater.LR
	}
	due := n%r.cfg.Run.LogEvery == 0
	if out.Skipped != update.Made || !due && !r.ended() {
		r.report.update(n, r.epoch(), nil)
		return
	}
	m.show(r)
	if due {
		*s = sums{}
	}
}

// end shows and writes the figures of a run that has ended between two records, as early_stop does, where that was not
// done.
func (m *meter) end(r *run) {
	if r.ended() && m.shown != r.updater.Updates && r.ledger.state.Since.Updates > 0 {
		m.show(r)
	}
}

// count counts the time until now.
func (m *meter) count(s *sums) {
	if m.stream == nil {
		return
	}
	now, waited := time.Now(), m.stream.Waited()
	took, wait := now.Sub(m.at).Seconds(), (waited - m.waited).Seconds()
	s.Seconds += took
	s.Waited += wait
	m.session.seconds += took
	m.session.wait += wait
	m.at, m.waited = now, waited
}

// show shows and writes the figures since the last record.
func (m *meter) show(r *run) {
	line := figures(r)
	line.Memory = r.memoryNow()
	r.peak = max(r.peak, line.Memory.Peak)
	r.pool.ResetPeaks()
	m.shown = line.Update
	r.report.update(line.Update, line.Epoch, &line)
	r.warn(r.sets.loader)
	r.record("update", line)
}

// figures are those since the last record, as a record.
func figures(r *run) updateMetrics {
	s, p := &r.ledger.state.Since, &r.ledger.state.Progress
	each := 1 / max(float64(s.Utterances), 1)
	line := updateMetrics{
		Update: r.updater.Updates, Epoch: r.epoch(), Loss: s.Loss * each, CTC: s.CTC * each, CE: s.CE * each,
		LearningRate: s.Rate, GradNorm: s.Norm, Utterances: s.Utterances, Seconds: s.Seconds, Audio: s.Audio,
		WaitShare: s.Waited / max(s.Seconds, 1e-9), Skipped: p.Skipped, Infeasible: s.Infeasible,
	}
	if r.cfg.Run.FP16 {
		line.LossScale = r.updater.LossScale.Scale
	}
	return line
}

// epoch is the number of the epoch in hand, or of the one that has just ended, from 1.
func (r *run) epoch() int {
	p := &r.ledger.state.Progress
	if p.Window == 0 {
		return p.Epoch
	}
	return p.Epoch + 1
}

// epochLosses are the losses of an epoch, in nats, summed over its utterances. They are a part of the state: a run that
// was interrupted in mid-epoch shows the mean of all of it.
type epochLosses struct {
	Loss       float64 `json:"loss"`
	CTC        float64 `json:"ctc"`
	CE         float64 `json:"ce"`
	Utterances int     `json:"utterances"`
}

// add adds a window, and at the end of the epoch shows the mean and begins anew.
func (l *epochLosses) add(r *run, out update.Outcome, last bool) {
	if out.Skipped == update.Made {
		l.Loss, l.CTC, l.CE, l.Utterances = l.Loss+out.Loss, l.CTC+out.CTC, l.CE+out.CE, l.Utterances+out.Utterances
	}
	if last {
		r.report.epoch(r.updater.Updates, r.epoch(), *l, r.updater.LR)
		*l = epochLosses{}
	}
}

// warn says what was odd in the files that a loader has read.
func (r *run) warn(l *data.Loader) {
	for _, w := range l.Warnings() {
		r.report.sayOnce("WARNING: " + w)
	}
}
