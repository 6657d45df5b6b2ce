package sysfs

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// throughput is the card's PCIe traffic from pcie_bw. The driver counts for a second
// whenever that file is read, so it is read aside: an answer has the figures of the
// measurement that ended last, and starts the next.
type throughput struct {
	mu             sync.Mutex
	running        bool
	missing        bool // the card has no such file
	at             time.Time
	sent, received smi.BytesPerSecond
}

// throughputAge is how old figures may be that are still shown.
const throughputAge = 10 * time.Second

func (t *throughput) rates(c *card) (sent, received smi.BytesPerSecond, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.running && !t.missing {
		t.running = true
		go t.measure(c)
	}
	return t.sent, t.received, !t.at.IsZero() && time.Since(t.at) < throughputAge
}

func (t *throughput) measure(c *card) {
	s, err := c.text("pcie_bw")
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = false
	if err != nil {
		// It stays away: the kernel shows the file to the cards that can.
		t.missing = smi.CodeOf(err) == smi.ErrNotSupported
		return
	}
	if sent, received, ok := parseThroughput(s); ok {
		t.sent, t.received, t.at = sent, received, time.Now()
	}
}

// parseThroughput reads pcie_bw: messages received and sent in a second, and the
// largest payload of one in bytes. The product is the highest it can have been, as
// the vendor's tools show it.
func parseThroughput(s string) (sent, received smi.BytesPerSecond, ok bool) {
	fs := strings.Fields(s)
	if len(fs) != 3 {
		return 0, 0, false
	}
	var v [3]uint64
	for i, f := range fs {
		n, err := strconv.ParseUint(f, 10, 64)
		if err != nil || n >= 1<<40 || ones(n) {
			return 0, 0, false
		}
		v[i] = n
	}
	if v[2] == 0 || v[2] > 4096 {
		return 0, 0, false
	}
	return smi.BytesPerSecond(v[1]) * smi.BytesPerSecond(v[2]), smi.BytesPerSecond(v[0]) * smi.BytesPerSecond(v[2]), true
}
