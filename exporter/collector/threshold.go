package collector

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// Thresholds say how much a card that is called healthy may have had: with more of something it is not. The zero value is
// none: no uncorrectable error of any part, and fewer bad pages than the card's own limit.
type Thresholds struct {
	uncorrectable uint64            // errors of all parts that have no threshold of their own
	blocks        map[string]uint64 // errors, by part
	badPages      smi.Opt[uint64]   // not available: fewer than the card's own limit
}

const (
	thresholdErrors = "uncorrectable"
	thresholdPages  = "bad-pages"
)

// String is what Set takes.
func (t *Thresholds) String() string {
	var list []string
	if t.uncorrectable > 0 {
		list = append(list, fmt.Sprintf("%s=%d", thresholdErrors, t.uncorrectable))
	}
	for _, b := range slices.Sorted(maps.Keys(t.blocks)) {
		list = append(list, fmt.Sprintf("%s=%d", b, t.blocks[b]))
	}
	if n, ok := t.badPages.Get(); ok {
		list = append(list, fmt.Sprintf("%s=%d", thresholdPages, n))
	}
	return strings.Join(list, ",")
}

// Set implements flag.Value: WHAT=N, with commas between; WHAT is uncorrectable, bad-pages or one of smi.ECCBlocks. It adds to what is there.
func (t *Thresholds) Set(s string) error {
	next := *t
	next.blocks = maps.Clone(t.blocks)
	if next.blocks == nil {
		next.blocks = map[string]uint64{}
	}
	for one := range strings.SplitSeq(s, ",") {
		what, number, ok := strings.Cut(strings.TrimSpace(one), "=")
		n, err := strconv.ParseUint(number, 10, 32)
		switch {
		case !ok || err != nil:
			return fmt.Errorf("exporter: %q is no threshold; umc=3 is one: more than 3 errors are too many", one)
		case what == thresholdErrors:
			next.uncorrectable = n
		case what == thresholdPages:
			next.badPages = smi.Some(n)
		case slices.Contains(smi.ECCBlocks, what):
			next.blocks[what] = n
		default:
			return fmt.Errorf("exporter: %q is nothing that has a threshold; these have: %s, %s, %s", what, thresholdErrors, thresholdPages, strings.Join(smi.ECCBlocks, ", "))
		}
	}
	*t = next
	return nil
}

// exceeded says whether a card has had more than it may.
func (t *Thresholds) exceeded(e *smi.ECC, pages int) bool {
	for i := range e.Blocks {
		if most, ok := t.blocks[e.Blocks[i].Block]; ok && e.Blocks[i].Uncorrectable.Or(0) > most {
			return true
		}
	}
	hasOwn := func(block string) bool { _, ok := t.blocks[block]; return ok }
	if e.UncorrectableErrors(hasOwn) > t.uncorrectable {
		return true
	}
	if most, ok := t.badPages.Get(); ok {
		return uint64(pages) > most
	}
	return e.WornOut(pages)
}
