package train

import (
	"fmt"

	"konkanitrain/internal/words"
)

// account tells the pool what the process holds beside its buffers, by name: all of it counts under the limit.
func (r *run) account() {
	u := r.replica.Usage()
	for name, bytes := range map[string]int64{"workspaces": u.Workspaces, "tables of constants": u.Tables} {
		_ = r.pool.Hold(name, bytes) // where it is too much, there is no room for arenas, which is said
	}
}

// heldText says what is held beside buffers.
func (r *run) heldText() string {
	return fmt.Sprintf("beside buffers %s", words.Bytes(r.pool.Usage().Held))
}
