// Package bugs holds kernels with a bug each, and the same without: what the
// simulator's checks are tested with, and what docs/simulator-check.md shows.
package bugs

import (
	"embed"
	"fmt"
)

//go:embed *.co
var objects embed.FS

// Object is the code object for an architecture.
func Object(arch string) []byte {
	b, err := objects.ReadFile(arch + ".co")
	if err != nil {
		panic(fmt.Sprintf("bugs: there is no object for %s", arch))
	}
	return b
}

// Kernel is a kernel with a bug: what a check says of it. The one without the bug
// has "_right" behind its name, and nothing is said of that.
type Kernel struct {
	Name    string
	Check   string // which one finds it
	Says    string // in its words
	Line    int    // of bugs.hip
	Threads uint32
	Reports int    // how many there are
	N       uint32 // the third argument; the fourth, of those that have one, is 8
}

// Kernels are all of them. Their arguments are an input of 1,024 bytes that are
// 1, an output of 1,024 bytes, and N.
var Kernels = []Kernel{
	{"lds_uninit", "uninit", "an undefined value is stored to device memory", 12, 64, 1, 40},
	{"scratch_uninit", "uninit", "a branch depends on an undefined value", 33, 64, 1, 0},
	{"register_uninit", "uninit", "an undefined value is stored to device memory", 57, 64, 1, 0},
	{"race", "race", "without a barrier between", 75, 256, 2, 256},
	{"bounds", "bounds", "4 bytes are read where nothing is allocated", 92, 320, 2, 256},
	{"align", "align", "an element of 4 bytes is read at address", 104, 64, 1, 64},
	{"wait", "wait", "is used before s_waitcnt has waited for what is loaded into it", 116, 64, 1, 64},
}
