package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// watch shows a run, once however often it is named, until it is interrupted, and then ends well.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	text := `{"event":"start","time":"2026-01-02T03:00:00Z","update":0,"total":100,"config":{}}` + "\n" +
		`{"event":"update","time":"2026-01-02T03:00:10Z","update":10,"epoch":1,"loss":4,"seconds":1,"utterances":2,"audio":3}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "metrics.jsonl"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, to := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- runWatch(ctx, []string{dir, dir, "--listen", "127.0.0.1:0"}, streams{to, io.Discard})
		to.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, <-done)
	}
	said := regexp.MustCompile(`^(http://127\.0\.0\.1:\d+/) shows .*; Ctrl-C ends it\n$`).FindStringSubmatch(line)
	if said == nil {
		t.Fatalf("%q", line)
	}
	answer, err := http.Get(said[1] + "state")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil || strings.Count(string(body), `"loss":{"mean":[4]}`) != 1 {
		t.Errorf("%s, %v", body, err)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("interrupted: %v", err)
	}
}
