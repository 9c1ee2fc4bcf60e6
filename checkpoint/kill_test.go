package checkpoint

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// width of the model in the kill test: its tensors take some tens of writes.
const killWidth = 50_000

// child is the process that is killed: it saves step 2 and kills itself, with SIGKILL where there is one, at
// its operation number args[1].
func child(_ string, args []string) int {
	at, err := strconv.Atoi(args[1])
	if err != nil {
		return 3
	}
	d := &faulty{at: at, fail: func() error {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			os.Exit(4)
		}
		select {}
	}}
	model, optimizer := tensors(2, killWidth)
	if _, err := save(d, args[0], 2, Content{Model: model, Optimizer: optimizer, State: theState(2)}); err != nil {
		return 5
	}
	return 0
}

func TestKilledWhileSaving(t *testing.T) {
	dir := t.TempDir()
	mustSave(t, dir, 1, 5)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kills, leftovers := 0, 0
	for at := 1; ; at++ {
		cmd := exec.CommandContext(context.Background(), program, dir, strconv.Itoa(at))
		cmd.Env = append(os.Environ(), "CHECKPOINT_TEST_CHILD=kill")
		err := cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code > 1 {
			t.Fatalf("kill at operation %d: exit code %d, %v", at, code, err)
		}
		c, damaged, latestErr := Latest(dir)
		if latestErr != nil || len(damaged) != 0 || c == nil {
			t.Fatalf("kill at operation %d: %v %v", at, damaged, latestErr)
		}
		if err == nil {
			mustHold(t, c, 2, killWidth)
			break
		}
		kills++
		if c.Step == 1 {
			mustHold(t, c, 1, 5)
		} else { // killed after it had the final name
			mustHold(t, c, 2, killWidth)
		}
		named, errNamed := Leftovers(dir)
		removed, errClean := Clean(dir)
		if errNamed != nil || errClean != nil || len(named) != len(removed) || len(named) > 1 {
			t.Fatalf("kill at operation %d: leftovers %v %v, removed %v %v", at, named, errNamed, removed, errClean)
		}
		leftovers += len(named)
	}
	if kills < 50 || leftovers < 45 {
		t.Errorf("%d kills with %d leftovers: too few to be spread over the save", kills, leftovers)
	}
}

// While a checkpoint is replaced by another of the same step, one of the two is there at every moment.
func TestKilledWhileReplacing(t *testing.T) {
	dir := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for at := 1; ; at += 7 {
		mustSave(t, dir, 2, 5)
		cmd := exec.CommandContext(context.Background(), program, dir, strconv.Itoa(at))
		cmd.Env = append(os.Environ(), "CHECKPOINT_TEST_CHILD=kill")
		err := cmd.Run()
		c, damaged, latestErr := Latest(dir)
		if latestErr != nil || len(damaged) != 0 || c == nil {
			t.Fatalf("kill at operation %d: %v %v", at, damaged, latestErr)
		}
		model, _ := tensors(2, 5)
		if c.LoadModel(blank(model)) == nil {
			mustHold(t, c, 2, 5)
		} else {
			mustHold(t, c, 2, killWidth)
		}
		if _, err := Clean(dir); err != nil {
			t.Fatal(err)
		}
		if err == nil {
			return
		}
	}
}
