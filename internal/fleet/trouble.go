package fleet

import (
	"fmt"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Trouble is something wrong with a card.
type Trouble struct {
	Kind   string `json:"kind"` // one of those below
	Detail string `json:"detail"`
}

// Kinds of trouble.
const (
	NoAnswer      = "no-answer"     // it does not tell its figures
	Uncorrectable = "uncorrectable" // memory errors that could not be corrected, since its driver was loaded
	BadPages      = "bad-pages"     // so many pages that it is not to be used any more
)

// troubles are what is wrong with a card: what gpu_health is 0 for.
func troubles(d *smi.DeviceSnapshot, pages int, pagesErr error) (list []Trouble) {
	add := func(kind, format string, args ...any) {
		list = append(list, Trouble{kind, fmt.Sprintf(format, args...)})
	}
	switch {
	case d.MetricsErr != nil && d.MetricsErr.Code != smi.ErrNotSupported:
		add(NoAnswer, "its figures cannot be read: %s", d.MetricsErr.Detail)
	case d.Metrics != nil && d.Metrics.Stale.Ok():
		add(NoAnswer, "it has not answered for %v", time.Duration(d.Metrics.Stale.Or(0)).Round(time.Second))
	}
	if d.ECC != nil {
		if n := d.ECC.UncorrectableErrors(nil); n > 0 {
			add(Uncorrectable, "%d uncorrectable memory errors", n)
		}
		if d.ECC.WornOut(pages) {
			add(BadPages, "%d bad pages; it is not to be used with %d", pages, d.ECC.BadPageLimit.Or(0))
		}
	}
	if pagesErr != nil && len(list) == 0 {
		add(NoAnswer, "its bad pages cannot be read: %v", pagesErr)
	}
	return list
}
