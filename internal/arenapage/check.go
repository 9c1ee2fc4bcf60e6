package arenapage

import (
	"errors"
	"fmt"
)

// check says what in a page contradicts itself. Buffers that live at the same time and overlap are the planner's
// business (engine.Plan.Check): here they would only hide each other.
func (p Page) check() error {
	if len(p.Programs) == 0 {
		return errors.New("an arena page without a program: give it at least one")
	}
	for i, program := range p.Programs {
		if err := program.check(); err != nil {
			return fmt.Errorf("program %d of the arena page, %q: %w", i+1, program.Name, err)
		}
	}
	return nil
}

func (p Program) check() error {
	if len(p.Steps) == 0 {
		return errors.New("it has no steps: there is nothing to show")
	}
	if p.Size <= 0 {
		return fmt.Errorf("its arena has %d bytes: there is nothing to show", p.Size)
	}
	for _, b := range p.Buffers {
		switch {
		case b.Size < 0 || b.Offset < 0 || b.Offset > p.Size-b.Size:
			return fmt.Errorf("%s has %d bytes at %d, outside the arena of %d bytes", b.Name, b.Size, b.Offset, p.Size)
		case b.First < -1 || b.First >= len(p.Steps):
			return fmt.Errorf("%s is written in step %d, but the program has steps 0 to %d", b.Name, b.First, len(p.Steps)-1)
		case b.Last < b.First:
			return fmt.Errorf("%s is written in step %d and last read in step %d, before that", b.Name, b.First, b.Last)
		}
	}
	return nil
}
