package checkpoint

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

// width of the model that is saved by the process that is killed: each of its files takes several writes.
const killWidth = 20_000

// child is that process: it saves step 2 and kills itself, with SIGKILL where there is one, at its operation number
// args[1], at the moment args[2]. With "save" it makes the same save on the real disk, and nothing else.
func child(role string, args []string) int {
	runtime.LockOSThread() // so that one thread makes all system calls
	var d disk = osDisk{}
	if role == "kill" {
		at, errAt := strconv.Atoi(args[1])
		when, errWhen := strconv.Atoi(args[2])
		if errAt != nil || errWhen != nil {
			return 3
		}
		d = killing(at, moment(when), func() {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err != nil {
				os.Exit(4)
			}
			select {}
		})
	}
	if _, err := save(d, args[0], 2, content(2, killWidth)); err != nil {
		return 5
	}
	return 0
}

// killedAt saves step 2 in a child that is killed at an operation, and says whether it was.
func killedAt(t *testing.T, dir string, at int, when moment) bool {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), os.Args[0], dir, strconv.Itoa(at), strconv.Itoa(int(when)))
	cmd.Env = append(os.Environ(), "CHECKPOINT_TEST_CHILD=kill")
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code > 1 {
		t.Fatalf("kill at operation %d: exit code %d, %v", at, code, err)
	}
	return err != nil
}

// A save is killed before, in and after each of its operations: the newest whole checkpoint loads, and what is left
// over is named and cleaned.
func TestKilledWhileSaving(t *testing.T) {
	kills, leftovers := 0, 0
	for when := range moments {
		dir := t.TempDir()
		mustSave(t, dir, 1, 5)
		for at := 1; ; at++ {
			killed := killedAt(t, dir, at, when)
			c, damaged, err := Latest(dir)
			if err != nil || len(damaged) != 0 || c == nil {
				t.Fatalf("kill at operation %d: %v %v", at, damaged, err)
			}
			if !killed && when != within { // no such operation, or one that is no write
				mustHold(t, c, 2, killWidth)
				break
			}
			if c.Step == 1 {
				mustHold(t, c, 1, 5)
			} else { // after it got its name
				mustHold(t, c, 2, killWidth)
			}
			if !killed {
				if c.Step == 1 {
					t.Fatalf("operation %d: nothing happened, and nothing is saved", at)
				}
				if at > kills {
					break
				}
				os.RemoveAll(c.Path)
				continue
			}
			kills++
			named, errNamed := Leftovers(dir)
			removed, errClean := Clean(dir)
			if errNamed != nil || errClean != nil || len(named) != len(removed) || len(named) > 1 {
				t.Fatalf("kill at operation %d: leftovers %v %v, removed %v %v", at, named, errNamed, removed, errClean)
			}
			leftovers += len(named)
		}
	}
	if kills < 50 || leftovers < 45 {
		t.Errorf("%d kills with %d leftovers: too few to be spread over the save", kills, leftovers)
	}
}

// killed is what ends an operation in the tests that play a kill in their own process.
type killed struct{}

// playKill lets do run on a disk until it is killed, and says whether that came.
func playKill(at int, when moment, inSteps bool, do func(d disk)) (came bool) {
	defer func() {
		if r := recover(); r != nil && r != (killed{}) {
			panic(r)
		}
	}()
	d := killing(at, when, func() { came = true; panic(killed{}) })
	d.inSteps = inSteps
	do(d)
	return came
}

// everyKill plays a kill at every moment of what do does in a folder that set makes, until none comes any more, and has
// the folder looked at after each.
func everyKill(t *testing.T, inSteps bool, set func() string, do func(d disk, dir string), look func(dir, when string)) {
	t.Helper()
	most := 0
	for when := range moments {
		for at := 1; ; at++ {
			dir := set()
			came := playKill(at, when, inSteps, func(d disk) { do(d, dir) })
			if came {
				most = max(most, at)
				look(dir, fmt.Sprintf("killed at operation %d, moment %d", at, when))
			} else if at > most {
				break
			}
		}
	}
	if most < 2 {
		t.Errorf("%d operations: this test says nothing", most)
	}
}

// At every moment of a save, in every situation, all that was there is whole, the next run cleans up, and its save
// succeeds.
func TestKilledAtEveryMoment(t *testing.T) {
	for name, s := range scenes {
		everyKill(t, s.inSteps, func() string { return s.set(t) }, func(d disk, dir string) {
			if _, err := save(d, dir, 2, content(2, 5)); err != nil {
				t.Error(err)
			}
		}, func(dir, when string) {
			when = name + ", " + when
			_, errRestore := Restore(dir)
			_, errClean := Clean(dir)
			if errRestore != nil || errClean != nil {
				t.Fatalf("%s: %v, %v", when, errRestore, errClean)
			}
			s.mustStand(t, dir, when)
			if left, err := Leftovers(dir); len(left) > 0 || err != nil {
				t.Fatalf("%s: left are %v, %v", when, left, err)
			}
			s.mustGoOn(t, dir, when)
		})
	}
}

// At every moment of what removes, restores or tries, what stays is whole, and the next run finishes it.
func TestKilledWhileRemoving(t *testing.T) {
	set := func() string {
		dir := t.TempDir()
		for step := range 4 {
			mustSave(t, dir, step, 3)
		}
		lost := tempName(dir, 0) + oldSuffix
		if err := os.Rename(filepath.Join(dir, Name(0)), lost); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	ignore := func(any, error) {}
	for name, c := range map[string]struct {
		do   func(d disk, dir string)
		left []int // steps at the end
	}{
		"prune":   {func(d disk, dir string) { ignore(prune(d, dir, Keep{Last: 2})) }, []int{2, 3}},
		"others":  {func(d disk, dir string) { ignore(nil, removeOthers(d, dir, Name(3))) }, []int{3}},
		"clean":   {func(d disk, dir string) { ignore(clean(d, dir)) }, []int{1, 2, 3}},
		"restore": {func(d disk, dir string) { ignore(restore(d, dir)) }, []int{0, 1, 2, 3}},
		"try":     {func(d disk, dir string) { ignore(nil, try(d, dir, 4, content(4, 3))) }, []int{1, 2, 3}},
	} {
		everyKill(t, false, set, c.do, func(dir, when string) {
			when = name + ", " + when
			list, err := List(dir)
			if err != nil || len(list) == 0 || list[len(list)-1].Step != 3 {
				t.Fatalf("%s: %v, %v", when, list, err)
			}
			for _, e := range list {
				c, err := Open(e.Path)
				if err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				mustHold(t, c, e.Step, 3)
			}
			c.do(osDisk{}, dir)
			_, err = Clean(dir)
			left, listErr := List(dir)
			var steps []int
			for _, e := range left {
				steps = append(steps, e.Step)
			}
			if err != nil || listErr != nil || !slices.Equal(steps, c.left) {
				t.Fatalf("%s: left are %v, want %v (%v, %v)", when, steps, c.left, err, listErr)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != len(c.left) {
				t.Fatalf("%s: left are %v, %v", when, entries, err)
			}
		})
	}
}
