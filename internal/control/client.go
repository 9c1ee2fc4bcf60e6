package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// Ask sends a request to the run in dir and returns its response, for at most the request's Wait and a few seconds
// more. The error wraps ErrNoRun if no run listens there on this machine. What the run refuses is an error too.
func Ask(ctx context.Context, dir string, request Request) (*Response, error) {
	request.Version = Version
	line, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, request.wait()+2*patience)
	defer cancel()
	c, err := dial(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err = c.Write(append(line, '\n')); err == nil {
		line, err = readLine(c, mostResponse)
	}
	switch {
	case err == nil:
		return parseResponse(line)
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("the run in %s (process %d) doesn't answer: it may be stopped (kill -CONT %[2]d lets it go on) or short of processor time", dir, peer(c))
	}
	return nil, fmt.Errorf("the run in %s has ended, or has too many clients: %w", dir, err)
}

// parseResponse reads a response; what the run refuses is an error.
func parseResponse(line []byte) (*Response, error) {
	var r Response
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("the run's response can't be read: %w", err)
	}
	switch {
	case r.Version != Version && r.Error == "":
		return nil, fmt.Errorf("the run's response is of version %d, and this program speaks version %d: ask with the program that the run was started with", r.Version, Version)
	case r.Error != "":
		return nil, fmt.Errorf("the run says: %s", r.Error)
	case r.Info == nil:
		return nil, errors.New("the run's response has no figures")
	}
	return &r, nil
}
