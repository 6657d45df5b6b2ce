package exporter

import (
	"time"

	"github.com/rocwire/rocwire/smi"
)

// linkRate is what a card's links to other cards carry, all together, between two of their readings.
type linkRate struct {
	at            time.Time // of the totals; zero: none yet
	links         int
	read, written smi.Bytes // totals
	rate          LinkRate
}

// LinkRate is how fast a card reads and writes over its links to other cards. It is not available until they were asked twice, or where one of them does not count.
type LinkRate struct {
	Read, Written smi.Opt[smi.BytesPerSecond]
}

// add takes a new reading. Totals that fall are of a driver that was loaded again.
func (l *linkRate) add(x *smi.XGMI, at time.Time) {
	next := linkRate{links: len(x.Links)}
	for i := range x.Links {
		read, a := x.Links[i].Read.Get()
		written, b := x.Links[i].Written.Get()
		if !a || !b {
			*l = linkRate{}
			return
		}
		next.read += read
		next.written += written
	}
	age, _ := x.Stale.Get()
	next.at = at.Add(-time.Duration(age))
	seconds := next.at.Sub(l.at).Seconds()
	switch {
	case next.links == 0:
		*l = linkRate{}
		return
	case seconds <= 0: // the same reading again
		return
	case l.links == next.links && !l.at.IsZero() && next.read >= l.read && next.written >= l.written:
		next.rate.Read = smi.Some(smi.BytesPerSecond(float64(next.read-l.read) / seconds))
		next.rate.Written = smi.Some(smi.BytesPerSecond(float64(next.written-l.written) / seconds))
	}
	*l = next
}
