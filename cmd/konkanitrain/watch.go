package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"konkanitrain/internal/settings"
	"konkanitrain/internal/watch"
)

// watchConfig is the settings of watch.
type watchConfig struct {
	Listen       string `yaml:"listen" default:"127.0.0.1:8420" check:"not empty" help:"where the page is: HOST:PORT, with port 0 for any that is free, or unix:PATH for a socket"`
	ListenPublic bool   `yaml:"listen_public" default:"false" check:"any" help:"allow an address that other machines reach: all who reach it see the runs and hear recordings, without a password"`
}

func watchCommand() command {
	return command{
		name: "watch", args: "RUN...", summary: "show runs, in progress or finished, as a page: curves, memory, the worst utterances; several are compared",
		onStop: "closing the page", run: runWatch,
	}
}

func watchHelp() (string, error) {
	o, err := newOptions("watch", &watchConfig{})
	if err != nil {
		return "", err
	}
	return usageLine(watchCommand()) + `
  konkanitrain watch runs/a
  konkanitrain watch runs/a runs/b --listen 127.0.0.1:9000
  konkanitrain watch runs/a --listen unix:/run/user/1000/watch.sock

RUN is a run's checkpoint_dir, or a log_dir with all of its runs. The page is at the address that is printed, until Ctrl-C. It reads what
the run writes, also while the run goes on, and changes nothing; figures for Prometheus are at /metrics. A run shows
itself with --listen.

Of recordings only the worst utterances of a validation can be heard, and no other file is served. A page in a browser
is answered by the machine's address and the name in listen, and by no other name.
` + o.usages(), nil
}

func runWatch(ctx context.Context, args []string, s streams) error {
	var c watchConfig
	o, err := newOptions("watch", &c)
	if err != nil {
		return err
	}
	if err := o.parse(args); err != nil {
		return err
	}
	var address watch.Address
	if err := o.apply(func(p *settings.Problems) {
		var wrong error
		if address, wrong = watch.ParseAddress(c.Listen, c.ListenPublic); wrong != nil {
			p.Add(settings.About("listen", fmt.Errorf("listen: %w", wrong)))
		}
	}); err != nil {
		return err
	}
	if len(o.flags.Args()) == 0 {
		return o.usage(errors.New("watch needs a run to show: the name of its checkpoint_dir"))
	}
	var sources []watch.Source
	for _, dir := range o.flags.Args() {
		found, err := watch.Sources(dir)
		if err != nil {
			return err
		}
		for _, source := range found {
			if !slices.ContainsFunc(sources, func(s watch.Source) bool { return s.Is(source) }) {
				sources = append(sources, source)
			}
		}
	}
	listener, err := address.Listen(c.ListenPublic)
	if err != nil {
		return err
	}
	defer listener.Close()
	server, err := watch.New(listener, sources)
	if err != nil {
		return err
	}
	var names []string
	for _, source := range sources {
		names = append(names, source.Name)
	}
	fmt.Fprintf(s.out, "%s shows %s; Ctrl-C ends it\n", listener.URL, strings.Join(names, ", "))
	if listener.Public {
		fmt.Fprintln(s.err, watch.Exposed)
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	return server.Serve()
}
