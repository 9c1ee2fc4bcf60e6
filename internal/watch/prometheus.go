package watch

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// serveMetrics sends figures in Prometheus's text format.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.refresh()
	set := metrics.NewSet()
	for _, run := range s.runs {
		run.ask()
		run.gauges(set)
	}
	s.mu.Unlock()
	var text bytes.Buffer
	set.WritePrometheus(&text)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text.Bytes()))
}

// gauges adds what is known of a run. Each figure has its run as a label; shares are from 0 to 1.
func (r *shown) gauges(set *metrics.Set) {
	gauge := func(name string, x float64, labels ...string) {
		full := fmt.Sprintf(`konkanitrain_%s{run="%s"`, name, label(r.Name))
		for i := 0; i < len(labels); i += 2 {
			full += fmt.Sprintf(`,%s="%s"`, labels[i], label(labels[i+1]))
		}
		if full += "}"; !math.IsNaN(x) {
			set.GetOrCreateGauge(full, func() float64 { return x })
		}
	}
	known := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	h, now := r.history, r.state()
	up := 0.0
	if now.Live {
		up = 1
	}
	gauge("in_progress", up)
	gauge("update", float64(now.Update))
	if now.Total > 0 {
		gauge("updates_planned", float64(now.Total))
	}
	if u := h.last; u.Update > 0 {
		gauge("epoch", float64(u.Epoch))
		gauge("loss", known(u.Loss), "part", "total")
		gauge("loss", known(u.CTC), "part", "ctc")
		gauge("loss", known(u.CE), "part", "ce")
		gauge("learning_rate", known(u.LearningRate))
		gauge("grad_norm", known(u.GradNorm))
		gauge("utterances_per_second", float64(ratio(u.Utterances, u.Seconds)))
		gauge("sound_seconds_per_second", float64(ratio(u.Audio, u.Seconds)))
		gauge("wait_share", known(u.WaitShare))
		gauge("skipped_updates", float64(u.Skipped))
		gauge("record_timestamp_seconds", float64(u.Time.Unix()))
	}
	gauge("seconds_left", known(now.Left))
	for which, s := range map[string]*score{"last": now.Last, "best": now.Best} {
		if s != nil {
			gauge("validation_update", float64(s.Update), "which", which)
			gauge("validation_loss", known(s.Loss), "which", which)
			gauge("validation_word_error_rate", known(s.WER), "which", which)
			gauge("validation_character_error_rate", known(s.CER), "which", which)
		}
	}
	if i := r.info; i != nil {
		gauge("memory_allocated_bytes", float64(i.Allocated))
		gauge("memory_reserved_bytes", float64(i.Reserved))
		gauge("memory_held_bytes", float64(i.Held))
		gauge("memory_limit_bytes", float64(i.Limit))
		gauge("memory_resident_bytes", float64(i.RSS))
		for _, holder := range i.Holders {
			gauge("memory_bytes", float64(holder.Bytes), "holder", holder.Name)
		}
		if i.Card != nil {
			for _, holder := range i.Card.HostHolders {
				gauge("host_memory_bytes", float64(holder.Bytes), "holder", holder.Name)
			}
		}
	}
}

// label is a text between a label's quotation marks.
func label(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(text, "?"))
}
