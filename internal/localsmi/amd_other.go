//go:build !(linux && cgo)

package localsmi

import (
	"fmt"
	"log/slog"
	"runtime"

	"github.com/rocwire/rocwire/smi"
)

// AMD's library is called through C, and rocwire knows the one for Linux.
func openAMD(*slog.Logger) (smi.Source, error) {
	return nil, smi.Errorf(smi.ErrNotSupported, "AMD's library is not available on %s in a program without cgo", runtime.GOOS)
}

// Probe is the main function of a process that only looks. Its result is the exit code.
func Probe() int {
	_, err := openAMD(nil)
	fmt.Println(err)
	return 1
}
