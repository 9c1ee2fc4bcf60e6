package train

import "konkanitrain/engine"

// profiling says that the run only measures itself. Such a run leaves nothing behind.
func (t *trainer) profiling() bool { return t.cfg.Run.ProfileSteps > 0 }

// printProfile shows where the time went.
func (t *trainer) printProfile() error {
	t.report.close()
	if n, want := t.made(), t.cfg.Run.ProfileSteps; n < want {
		why := t.end()
		if why == "" {
			why = "interrupted"
		}
		t.report.say("profile: %d of %s were made: %s", n, count(want, "update"), why)
		if n == 0 {
			return nil
		}
	}
	sum := engine.NewProfile()
	for _, w := range t.crew.Workers {
		if w.Profile != nil {
			sum.Merge(w.Profile)
		}
	}
	return sum.Write(t.report.out, engine.MeasureLimits())
}
