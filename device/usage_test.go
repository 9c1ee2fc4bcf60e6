package device

import (
	"errors"
	"testing"
)

func TestOutOfMemorySaysAllThatIsKnown(t *testing.T) {
	cause := errors.New("cannot allocate memory")
	u := Usage{Allocated: 1200, Reserved: 1264, Held: 300, Limit: 2000}
	if u.Cached() != 64 {
		t.Errorf("%d bytes are cached", u.Cached())
	}
	all := u.OutOfMemory(67108864, "arena of worker 0", cause)
	all.Planned, all.Advice = 99, "use fewer cpu_workers"
	for _, c := range []struct {
		err  *OutOfMemory
		want string
	}{
		{Usage{}.OutOfMemory(5, "weights", nil), "out of memory: no 5 bytes for weights: 0 are in use, 0 cached"},
		{Usage{Allocated: 7, Reserved: 7}.OutOfMemory(5, "weights", cause),
			"out of memory: no 5 bytes for weights: 7 are in use, 0 cached; the system says: cannot allocate memory"},
		{&OutOfMemory{What: "weights", Size: 5, Allocated: 7, Limit: 8}, // by who doesn't count what is reserved
			"out of memory: no 5 bytes for weights: 7 are in use, 0 cached, the limit is 8"},
		{all, "out of memory: no 67108864 bytes for arena of worker 0: 1200 are in use, 64 cached, " +
			"300 held by the rest of the process, the limit is 2000; the system says: cannot allocate memory; " +
			"the plan was for 99; use fewer cpu_workers"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if !errors.Is(all, cause) || errors.Is(u.OutOfMemory(1, "", nil), cause) {
		t.Error("the cause is another")
	}
}
