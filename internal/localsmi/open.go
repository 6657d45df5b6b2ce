package localsmi

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/rocwire/rocwire/smi"
)

// Names of sources.
const (
	Auto  = "auto" // the first one that can be opened
	AMD   = "amdsmi"
	Sysfs = "sysfs"
)

// Opener opens a source.
type Opener struct {
	Name string
	Open func(*slog.Logger) (smi.Source, error)
}

// Openers are in the order of preference.
var Openers = []Opener{
	{AMD, openAMD},
	{Sysfs, openSysfs},
}

// Open opens the source called name, or the first of all, and tells which one it is.
// The error says of each why it cannot be used.
func Open(name string, openers []Opener, log *slog.Logger) (src smi.Source, source string, err error) {
	var errs []error
	for _, x := range openers {
		if name != Auto && name != x.Name {
			continue
		}
		src, err := x.Open(log)
		if err == nil {
			return src, x.Name, nil
		}
		log.Debug("no management data from here", "source", x.Name, "error", err)
		errs = append(errs, fmt.Errorf("%s: %w", x.Name, err))
	}
	if len(errs) == 0 {
		return nil, "", fmt.Errorf("there is no source called %q", name)
	}
	return nil, "", errors.Join(errs...)
}
