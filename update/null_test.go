package update

import (
	"testing"

	"konkanitrain/data"
	"konkanitrain/device"
	"konkanitrain/engine"
)

// The null replica carries a whole run: its plans, its updates, what it would hold. Nothing is computed.
func TestNullReplicaCarriesARun(t *testing.T) {
	set := examples(t, bundled)
	span := Span{Count: 18}
	p := plan(t, set, options, span)
	network, err := onHost(listener(t, set))
	if err != nil {
		t.Fatal(err)
	}
	dev := device.NewNull(0)
	null, err := engine.NewNull(dev, engine.NewLibrary(network), 2, true)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	counts := &counting{Replica: null}
	u := New(listener(t, set), counts, options)
	met, _, err := u.Shapes(p.loader, span)
	if err != nil {
		t.Fatal(err)
	}
	most, bytes, err := u.Runner.Largest(met)
	if err != nil || most != p.most || bytes != p.bytes {
		t.Fatalf("the largest is %+v with %d bytes, %v; on a crew it is %+v with %d", most, bytes, err, p.most, p.bytes)
	}
	if err := null.Prepare(nil, bytes); err != nil {
		t.Fatal(err)
	}
	read(t, p.loader, span, func(w *data.Window) {
		want := mustUpdate(t, p.updater, w.Examples)
		got := mustUpdate(t, u, w.Examples)
		if got.Loss != 0 || got.Norm != 0 || got.Utterances != want.Utterances || got.Audio != want.Audio || u.LR != p.updater.LR {
			t.Errorf("update %d: %+v", u.Updates, got)
		}
	})
	p.check(t)
	if u.Updates != span.Count || len(counts.runs) != len(p.counts.runs) {
		t.Errorf("%d updates in %d shapes", u.Updates, len(counts.runs))
	}
	if got, want := null.Usage(), p.crew.Usage(); got != want {
		t.Errorf("it would hold %+v, a crew holds %+v", got, want)
	}
	if got, want := dev.Usage().Allocated, null.Usage(); got != want.Total()-want.Workspaces-want.Tables {
		t.Errorf("the device counts %d bytes, the replica %+v", got, want)
	}
}
