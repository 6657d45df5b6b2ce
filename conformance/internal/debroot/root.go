package debroot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
)

// ErrNotPermitted is why no program can be started so on this machine.
var ErrNotPermitted = errors.New("this machine does not let us make a root of Debian's packages: that takes root, or user namespaces for everybody")

// Root says what the programs have as their root.
type Root struct {
	// Tree is the folder with the unpacked packages. The programs see it at its own place, too, and cannot write there.
	Tree string
	// Dir is a folder that exists, where a process makes its root. Others do not see it there.
	Dir string
	// Shared are folders that are at the same place as outside, and can be written. They may be in Tree.
	Shared []string
	// Links are more symbolic links in the root, by where they are: programs look for others where these were when they were built.
	Links map[string]string
	// Env is added to the environment of the programs: LD_LIBRARY_PATH, say, which must not hold for what makes the root.
	Env []string
}

// start is what a process is told that makes the root and then becomes the program.
type start struct {
	Root
	Args []string // the program's path in the root and its arguments, none to only try
}

// Command is a program, by its path in the root, with arguments.
func (r Root) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	return r.command(ctx, start{r, append([]string{program}, args...)})
}

// Try makes a root and starts nothing there. It fails with ErrNotPermitted if that is not for us.
func (r Root) Try(ctx context.Context) error {
	out, err := r.command(ctx, start{Root: r}).CombinedOutput()
	var status *exec.ExitError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &status) || status.ExitCode() == notPermitted: // without namespaces it does not even start
		return fmt.Errorf("%w (%w %s)", ErrNotPermitted, err, out)
	}
	return fmt.Errorf("%w: %s", err, out)
}

// Exit statuses of a process that did not become the program, as a shell has them.
const (
	notPermitted = 126
	otherwise    = 125
)

// argument is the first one of a process that makes a root; the second is a start.
const argument = "rocwire-debroot"

func (r Root) command(ctx context.Context, s start) *exec.Cmd {
	text, err := json.Marshal(s)
	cmd := exec.CommandContext(ctx, "/proc/self/exe", argument, string(text))
	cmd.Err = errors.Join(cmd.Err, err)
	enter(cmd)
	return cmd
}
