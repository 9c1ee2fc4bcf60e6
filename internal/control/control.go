// Package control lets another program ask a run in progress about its memory, and tell it to use less. The run
// listens on a socket in its checkpoint_dir ([Listen], [Server]); the other side connects to it ([Ask]). Each
// connection carries one request and one response, a line of JSON each. Only the run's own user, and root, are
// answered.
//
// A request for figures is answered at once. One that changes something waits until the run carries it out, which it
// does between two updates: [Server.Serve].
package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Version is that of requests and responses. It changes when an older program would misread them.
const Version = 1

// What can be asked for.
const (
	AskInfo     = "info"     // figures
	AskClear    = "clear"    // give idle memory back to the system
	AskReset    = "reset"    // let the peaks begin anew
	AskFraction = "fraction" // set the cap to a share of the memory that there is
)

// Request is what is asked of a run.
type Request struct {
	Version  int     `json:"version"`
	Ask      string  `json:"ask"`
	Fraction float64 `json:"fraction,omitempty"` // with AskFraction: above 0, at most 1
	Wait     float64 `json:"wait,omitempty"`     // seconds that the response may take while the run is busy, at most MaxWait
}

// wait is the request's Wait.
func (r Request) wait() time.Duration { return time.Duration(r.Wait * float64(time.Second)) }

// MaxWait is the longest that a run keeps a client waiting, in seconds.
const MaxWait = 60

// Response is what the run says.
type Response struct {
	Version int    `json:"version"`
	Error   string `json:"error,omitempty"` // why it isn't done; there are no figures then
	// Done says that what was asked for is done. If not, the run was busy for all of the wait, and will do it later.
	Done   bool   `json:"done"`
	Note   string `json:"note,omitempty"`   // what came of it, in words
	Before *Info  `json:"before,omitempty"` // figures before it was carried out; nil for AskInfo
	Info   *Info  `json:"info,omitempty"`   // figures now
	// Waiting is the number of requests that the run has not carried out yet.
	Waiting int `json:"waiting,omitempty"`
}

// Info is a run's place and its memory: that of its buffers, which lie on the card if it has one. Amounts are bytes.
type Info struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"` // this process's part of the run
	Update  int       `json:"update"`  // the last one that was made
	Epoch   int       `json:"epoch"`   // from 1: the one being trained on

	Allocated    int64 `json:"allocated"`     // in live buffers
	Reserved     int64 `json:"reserved"`      // held from the system for buffers
	Cached       int64 `json:"cached"`        // of Reserved, in no buffer
	Held         int64 `json:"held"`          // by the rest of the process, as far as it is counted
	Limit        int64 `json:"limit"`         // the cap on Reserved + Held; 0: none
	Peak         int64 `json:"peak"`          // the most Allocated has been
	PeakReserved int64 `json:"peak_reserved"` // the most Reserved + Held has been
	Total        int64 `json:"total"`         // of the machine, 0: unknown
	RSS          int64 `json:"rss"`           // of the process, as the system counts, 0: unknown
	PeakRSS      int64 `json:"peak_rss"`

	Holders []Holder `json:"holders"`        // who holds it
	Card    *Card    `json:"card,omitempty"` // nil: the run computes on the CPU
}

// Card is the card that a run computes on. Amounts are bytes.
type Card struct {
	Device      string   `json:"device"` // cuda:0
	Title       string   `json:"title"`
	Free        int64    `json:"free"`  // of its memory
	Total       int64    `json:"total"` // 0: the card doesn't answer any more
	Other       int64    `json:"other"` // in contexts, the run's too, and other programs
	Host        int64    `json:"host"`  // what the run has of the machine's memory beside
	HostLimit   int64    `json:"host_limit"`
	HostHolders []Holder `json:"host_holders"` // who holds that
}

// Holder is who holds memory.
type Holder struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// ErrNoRun says that no run listens in a folder, on this machine.
var ErrNoRun = errors.New("no run answers there")

// Files in checkpoint_dir.
const (
	socketFile  = "control.sock"
	pointerFile = "control.json" // where the socket is, if the folder's file system can't hold one
)

// Listens says whether dir has the files of a run that listens there, or of one that was killed.
func Listens(dir string) bool {
	for _, name := range []string{socketFile, pointerFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

const (
	mostRequest  = 4 << 10 // bytes of a request
	mostResponse = 1 << 20
	patience     = 5 * time.Second // for the other side to send or take what is due
)

// parseRequest reads a request. The error is for the client: it says what to ask instead.
func parseRequest(line []byte) (Request, error) {
	var r struct {
		Request
		Version *int `json:"version"`
	}
	d := json.NewDecoder(bytes.NewReader(line))
	if err := d.Decode(&r); err != nil {
		return Request{}, fmt.Errorf("the request is no JSON object as this program knows it: %w", err)
	}
	if len(bytes.TrimSpace(line[d.InputOffset():])) > 0 {
		return Request{}, errors.New("there is more behind the request's JSON object")
	}
	if r.Version == nil || *r.Version != Version {
		return Request{}, fmt.Errorf("the request is not of version %d, which this run speaks: ask with the program that the run was started with", Version)
	}
	r.Request.Version = *r.Version
	switch r.Ask {
	case AskInfo, AskClear, AskReset:
	case AskFraction:
		if !(r.Fraction > 0 && r.Fraction <= 1) {
			return Request{}, fmt.Errorf("the fraction is %g, want more than 0 and at most 1", r.Fraction)
		}
	default:
		return Request{}, fmt.Errorf("%.40q is unknown to this run, which can be asked for %s, %s, %s and %s", r.Ask, AskInfo, AskClear, AskReset, AskFraction)
	}
	if !(r.Wait >= 0 && r.Wait <= MaxWait) {
		return Request{}, fmt.Errorf("the wait is %g s, want 0 to %d", r.Wait, MaxWait)
	}
	return r.Request, nil
}
