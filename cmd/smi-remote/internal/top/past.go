package top

import (
	"strings"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// pastSpan is how far back a card's use is shown.
const pastSpan = 4 * time.Minute

// past is how busy a card was of late, oldest first.
type past []struct {
	at  time.Time
	use float64 // share of its time
}

// add notes how busy the card is, and forgets what is too long ago. What is not known leaves a gap.
func (p *past) add(at time.Time, use smi.Opt[smi.Ratio]) {
	if r, ok := use.Get(); ok {
		*p = append(*p, struct {
			at  time.Time
			use float64
		}{at, min(max(float64(r), 0), 1)})
	}
	n := 0
	for n < len(*p) && at.Sub((*p)[n].at) >= pastSpan {
		n++
	}
	*p = (*p)[n:]
}

// sparks are the heights of a line of characters.
var sparks = []rune("▁▂▃▄▅▆▇█")

// line is a picture of the time up to now, each column the mean of its part of it, blank where nothing was read.
func (p past) line(now time.Time, width int) string {
	sums, counts := make([]float64, width), make([]int, width)
	for _, s := range p {
		i := width - 1 - int(now.Sub(s.at)*time.Duration(width)/pastSpan)
		if i = min(i, width-1); i >= 0 {
			sums[i] += s.use
			counts[i]++
		}
	}
	var b strings.Builder
	for i, n := range counts {
		if n == 0 {
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(sparks[min(int(sums[i]/float64(n)*float64(len(sparks))), len(sparks)-1)])
	}
	return b.String()
}
