package train

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/testkit"
)

// found is FindOrigin without an error.
func found(t *testing.T, cfg Config) *Origin {
	t.Helper()
	o, err := FindOrigin(cfg.Run)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// mustRefuse holds a run from an origin to the reason why it can't be.
func mustRefuse(t *testing.T, cfg Config, o *Origin, parts ...string) {
	t.Helper()
	r, err := setUp(t.Context(), cfg, Options{Origin: o})
	if err == nil {
		r.close()
	}
	testkit.MustFail(t, err, parts...)
}

// What a run goes on from is read and hashed once: a run that is handed it doesn't look at its checksums again.
func TestOriginIsReadOnce(t *testing.T) {
	cfg := once(t, small(tiny(t, speak(t, babble(8, 4, 1)...))))
	dir := cfg.Run.CheckpointDir
	o := found(t, cfg)
	if o.Checkpoint == nil || o.Checkpoint.Step != 2 || len(o.Damaged) != 0 {
		t.Fatalf("%+v", o)
	}
	damage(t, dir, 2, checkpoint.StateFile)
	r, err := setUp(t.Context(), cfg, Options{Origin: o})
	if err != nil {
		t.Fatal(err)
	}
	if r.updater.Updates != 2 || r.ledger.newest != o.Checkpoint.Path {
		t.Errorf("it goes on at %d", r.updater.Updates)
	}
	r.close()
	damage(t, dir, 2, checkpoint.StateFile)
	damage(t, dir, 2, checkpoint.OptimizerFile) // the moment's last bit
	o = found(t, cfg)
	if o.Checkpoint.Step != 1 || len(o.Damaged) != 1 || filepath.Base(o.Damaged[0].Path) != checkpoint.Name(2) {
		t.Errorf("%+v", o)
	}
}

// A run that was begun, or has gone on, since the origin was looked for is noticed when the folder is this run's own.
func TestOriginIsOvertaken(t *testing.T) {
	cfg := withResume(small(tiny(t, speak(t, babble(8, 4, 1)...))))
	cfg.Optimizer.MaxUpdates = 1
	none := found(t, cfg)
	if none.Checkpoint != nil {
		t.Fatalf("%+v", none)
	}
	mustRun(t, cfg)
	cfg.Optimizer.MaxUpdates = 2
	mustRefuse(t, cfg, none, "holds a run already, up to "+checkpoint.Name(1))
	first := found(t, cfg)
	mustRun(t, cfg)
	cfg.Optimizer.MaxUpdates = 3
	mustRefuse(t, cfg, first, "holds later checkpoints, up to "+checkpoint.Name(2))
	mustHave(t, cfg.Run.CheckpointDir, 1, 2)
}

// What can't be gone on from is said, with the setting that names it.
func TestOriginThatIsNone(t *testing.T) {
	cfg := once(t, small(tiny(t, speak(t, babble(8, 4, 1)...))))
	dir := cfg.Run.CheckpointDir
	if o := found(t, Config{}); o.Checkpoint != nil {
		t.Errorf("without resume: %+v", o)
	}
	if settings, err := found(t, Config{}).Config(); settings != nil || err != nil {
		t.Errorf("a new run's settings: %s, %v", settings, err)
	}
	named := found(t, Config{Run: RunConfig{Resume: filepath.Join(dir, checkpoint.Name(1)) + "/"}})
	if named.Checkpoint.Step != 1 || named.Checkpoint.Path != filepath.Join(dir, checkpoint.Name(1)) {
		t.Errorf("%+v", named)
	}
	settings, err := named.Config()
	if err != nil {
		t.Fatal(err)
	}
	if c, err := fromSettings(settings); err != nil || !cmp.Equal(c.Model, cfg.Model, cmpopts.EquateEmpty()) || c.Run.Seed != cfg.Run.Seed {
		t.Errorf("%+v, %v", c, err)
	}
	_, err = FindOrigin(RunConfig{Resume: filepath.Join(dir, "none")})
	testkit.MustFail(t, err, "resume: ", "none")
	file := alone(t, dir, 2)
	_, err = FindOrigin(RunConfig{Resume: file})
	testkit.MustFail(t, err, "resume: "+file+" is a file, not a checkpoint's folder", "--init_from '"+file+"' starts a new run")
	_, err = FindOrigin(RunConfig{Resume: dir})
	testkit.MustFail(t, err, "resume: ", "is a folder of checkpoints: name one of them")
	for _, step := range steps(t, dir) {
		damage(t, dir, step, checkpoint.ModelFile)
	}
	_, err = FindOrigin(cfg.Run)
	testkit.MustFail(t, err, "resume auto: none of the checkpoints in "+dir+" is whole", "restore one, or start anew in another checkpoint_dir")
	testkit.MustContain(t, refused(t, cfg), "resume auto: none of the checkpoints")
}

// A state that this program can't read is refused: one of another format, with a key that nobody knows, or with
// settings that are none.
func TestStateThatIsNone(t *testing.T) {
	cfg := once(t, small(tiny(t, speak(t, babble(8, 4, 1)...))))
	rewritten := func(change func(c *contents)) Config {
		c := elsewhere(t, cfg)
		if err := os.CopyFS(c.Run.CheckpointDir, os.DirFS(cfg.Run.CheckpointDir)); err != nil {
			t.Fatal(err)
		}
		rewrite(t, c.Run.CheckpointDir, change)
		return c
	}
	testkit.MustContain(t, refused(t, rewritten(func(c *contents) { c.state.Format = 2 })), "has format 2, this version of konkanitrain reads 1")
	for _, settings := range []string{`[]`, `null`, `"x"`} {
		c := rewritten(func(c *contents) { c.state.Config = json.RawMessage(settings) })
		testkit.MustContain(t, refused(t, c), "resume from "+filepath.Join(c.Run.CheckpointDir, checkpoint.Name(2)), "the saved configuration is no object of settings by key")
	}

	odd := elsewhere(t, cfg)
	if _, err := checkpoint.Save(odd.Run.CheckpointDir, 4, checkpoint.Content{State: map[string]any{"format": 1, "magic": true}}); err != nil {
		t.Fatal(err)
	}
	testkit.MustContain(t, refused(t, odd), `unknown field "magic"`)
	list := elsewhere(t, cfg)
	if _, err := checkpoint.Save(list.Run.CheckpointDir, 4, checkpoint.Content{State: []int{1}}); err != nil {
		t.Fatal(err)
	}
	_, err := found(t, list).Config()
	testkit.MustFail(t, err, "resume: the settings in ", checkpoint.Name(4))
}

// A checkpoint that lost its name when a save was killed, on a system that can't exchange two folders at once, has it
// back before the run looks for what it goes on from; also where that was found before.
func TestLostNameComesBack(t *testing.T) {
	for _, before := range []bool{false, true} {
		cfg := once(t, small(tiny(t, speak(t, babble(8, 4, 1)...))))
		dir := cfg.Run.CheckpointDir
		final := filepath.Join(dir, checkpoint.Name(2))
		if err := os.Rename(final, filepath.Join(dir, ".tmp-step-00000002-abcdefgh.old")); err != nil {
			t.Fatal(err)
		}
		var origin *Origin
		if before {
			var err error
			if origin, err = FindOrigin(cfg.Run); err != nil || origin.Checkpoint.Step != 1 {
				t.Fatalf("%+v, %v", origin, err)
			}
		}
		var said bytes.Buffer
		if _, err := Run(t.Context(), cfg, Options{Out: &said, Origin: origin}); err != nil {
			t.Fatal(err)
		}
		mustContainOnce(t, said.String(), final+" has its name back, which it lost to a save that was killed", "resumed from "+final)
	}
}

// Commands that a refusal advises can be pasted into a shell, whatever the folder is called.
func TestAdviceIsQuoted(t *testing.T) {
	cfg := small(tiny(t, speak(t, babble(8, 4, 1)...)))
	cfg.Run.CheckpointDir = filepath.Join(t.TempDir(), "it's a run")
	cfg.Optimizer.MaxUpdates = 1
	mustRun(t, cfg)
	dir := cfg.Run.CheckpointDir
	from, quoted := filepath.Join(dir, checkpoint.Name(1)), `'`+filepath.Dir(dir)+`/it'\''s a run`
	for resume, want := range map[string]string{
		dir: "--checkpoint_dir " + quoted + "' --resume auto",
		filepath.Join(from, checkpoint.ModelFile): "--init_from " + quoted + "/" + checkpoint.Name(1) + "/" + checkpoint.ModelFile + "' starts",
	} {
		cfg.Run.Resume = resume
		_, err := FindOrigin(cfg.Run)
		testkit.MustFail(t, err, want)
	}
	cfg = withResume(cfg)
	cfg.Run.Resume, cfg.Optimizer.Freeze = "auto", []string{"encoder.blocks.*"}
	mustRefuse(t, cfg, found(t, cfg), "--init_from "+quoted+"/"+checkpoint.Name(1)+"' --freeze 'encoder.blocks.*' in another")
}
