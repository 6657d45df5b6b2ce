package dialing

import (
	"fmt"
	"os"
	"sync"

	"github.com/rocwire/rocwire/internal/outbound"
)

// warned are the token files of which it was said that others can read them.
var warned sync.Map

// readToken reads a token file. One that others can read is taken, and said once unless it was given like that.
func readToken(path string, given bool) (string, error) {
	s, err := outbound.ReadSecret(path)
	if err != nil {
		return "", fmt.Errorf("the token: %w", err)
	}
	if i, err := os.Stat(path); !given && err == nil && i.Mode().Perm()&0o004 != 0 {
		if _, again := warned.LoadOrStore(path, true); !again {
			fmt.Fprintf(os.Stderr, "rocwire: %s: every user of this machine can read the token (chmod 600)\n", path)
		}
	}
	return s.Reveal(), nil
}
