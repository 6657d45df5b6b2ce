package simgpu

import (
	"fmt"
	"strconv"
)

// FromEnv are the Options of a simulated GPU inside a program: cards of ROCWIRE_SIM_ARCH (DefaultArch), as many as ROCWIRE_SIM_CARDS says (one). An error matches
// ErrOptions.
func FromEnv(getenv func(string) string) (Options, error) {
	o := Options{Arch: getenv("ROCWIRE_SIM_ARCH")}
	if n := getenv("ROCWIRE_SIM_CARDS"); n != "" {
		var err error
		if o.Cards, err = strconv.Atoi(n); err != nil || o.Cards < 1 || o.Cards > MaxCards {
			return Options{}, fmt.Errorf("%w: ROCWIRE_SIM_CARDS=%q is not a number from 1 to %d", ErrOptions, n, MaxCards)
		}
	}
	return o, nil
}
