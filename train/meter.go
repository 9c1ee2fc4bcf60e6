package train

import (
	"time"

	"konkanitrain/data"
	"konkanitrain/update"
)

// meter keeps the running figures between two progress lines.
type meter struct {
	sums  updateMetrics // since the last record
	since time.Time     // the last record, without the time that was not training
	wait  time.Duration // for data, at the last record

	session session
}

func (m *meter) start() { m.since = time.Now() }

// leaveOut takes time that was not training out of the speeds.
func (m *meter) leaveOut(d time.Duration) { m.since = m.since.Add(d) }

// add adds a window to the running figures, and at the logging interval shows and writes them.
func (m *meter) add(r *run, out update.Outcome, stream *data.Stream) {
	s := &m.sums
	s.Loss += out.Loss
	s.CTC += out.CTC
	s.CE += out.CE
	if out.Skipped == update.Made {
		s.Utterances += out.Utterances
		s.GradNorm = out.Norm
	}
	s.Audio += out.Audio
	s.Infeasible += out.Infeasible
	n := r.updater.Updates
	if out.Skipped != update.Made || n%r.cfg.Run.LogEvery != 0 && !r.ended() {
		r.report.update(n, nil)
		return
	}
	line := m.record(r, stream)
	r.report.update(n, &line)
	r.warn(r.sets.loader)
	r.record("update", line)
}

// record is the figures since the last record, which begin anew.
func (m *meter) record(r *run, stream *data.Stream) updateMetrics {
	now := time.Now()
	line := m.sums
	line.Seconds = now.Sub(m.since).Seconds()
	line.WaitShare = (stream.Waited() - m.wait).Seconds() / max(line.Seconds, 1e-9)
	m.since, m.wait, m.sums = now, stream.Waited(), updateMetrics{}
	each := 1 / max(float64(line.Utterances), 1)
	line.Loss, line.CTC, line.CE = line.Loss*each, line.CTC*each, line.CE*each
	p := &r.ledger.state.Progress
	line.Update, line.Epoch, line.LearningRate, line.Skipped = r.updater.Updates, p.Epoch+1, r.updater.LR, p.Skipped
	if p.Window == 0 {
		line.Epoch--
	}
	m.session.add(line)
	line.Memory = r.memoryNow()
	r.pool.ResetPeaks()
	r.peak = max(r.peak, line.Memory.Peak)
	if r.cfg.Run.FP16 {
		line.LossScale = r.updater.LossScale.Scale
	}
	return line
}

// warn says what was odd in the files that a loader has read.
func (r *run) warn(l *data.Loader) {
	for _, w := range l.Warnings() {
		r.report.sayOnce("WARNING: " + w)
	}
}
