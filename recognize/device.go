package recognize

import (
	"errors"
	"fmt"
)

// ChooseDevice says what a device setting means here, and why. This build computes on the CPU; cuda is refused,
// never replaced in silence.
func ChooseDevice(name string) (chosen, why string, err error) {
	switch name {
	case "cpu":
		return "cpu", "as asked for", nil
	case "auto":
		return "cpu", "auto: this build has no CUDA support", nil
	case "cuda":
		return "", "", errors.New("device cuda: this build of konkanitrain has no CUDA support; " +
			"use --device cpu, or --device auto to take what there is")
	}
	return "", "", fmt.Errorf("device is %q, want auto, cpu or cuda", name)
}
