package localsmi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// ProbeCommand is the first argument of a process that only looks whether AMD's
// library can be used. People do not use it.
const ProbeCommand = "__probe-smi"

// probeLimit is how long a library may take to look for cards.
const probeLimit = time.Minute

// RunProbe runs this program with that argument; the error is what it says.
func RunProbe(command string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, command)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return smi.Errorf(smi.ErrTimeout, "the library does not answer within %v", probeLimit)
	}
	if reason := lastLine(string(out)); reason != "" {
		return errors.New(reason)
	}
	return fmt.Errorf("the library fails: %w", err)
}

// lastLine is where such a process says why; above it stands what the library has to say.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	s = s[strings.LastIndexByte(s, '\n')+1:]
	return s[:min(len(s), 512)]
}
