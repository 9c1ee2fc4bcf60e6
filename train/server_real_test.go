//go:build tensorboard || mlflow

package train

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// freePort is one that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// serve starts a server until the test ends, or until stop is called, and waits until it answers.
func serve(t *testing.T, server string, dir string, command ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "DO_NOT_TRACK=true", "MLFLOW_DISABLE_TELEMETRY=true") // a test tells nobody
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with the processes that it starts
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := func() {
		cancel()
		_ = cmd.Wait()
		log.Close()
	}
	t.Cleanup(ended)
	for range 600 {
		if answer, err := http.Get(server); err == nil {
			answer.Body.Close()
			return ended
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Fatalf("%v doesn't answer\n%s", command, readFile(t, log.Name()))
	return nil
}

// ask reads JSON from a server.
func ask(t *testing.T, address string, out any) {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v\n%.300s", address, answer.Status, err, text)
	}
}
