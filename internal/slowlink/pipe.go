package slowlink

import (
	"math/rand/v2"
	"os"
	"sync/atomic"
	"time"
)

// maxPacket is the largest packet of a TUN device with its default MTU, and some.
const maxPacket = 2048

// minQueue is how long packets may wait for their turn at least; a router has room for about a round trip.
const minQueue = 20 * time.Millisecond

// pipe is one direction of a link.
type pipe struct {
	opt   Options
	to    *os.File
	rand  *rand.Rand
	free  time.Time // when the line has sent what it has taken
	queue chan packet
	count *atomic.Uint64 // of bytes that have come over
}

type packet struct {
	data []byte
	at   time.Time // when it arrives
}

func newPipe(opt Options, to *os.File, seed int64, count *atomic.Uint64) *pipe {
	return &pipe{opt: opt, to: to, rand: rand.New(rand.NewPCG(uint64(seed), 1)), queue: make(chan packet, 1<<14), count: count}
}

// take reads packets until the device is closed, and drops some.
func (p *pipe) take(from *os.File) {
	defer close(p.queue)
	buf := make([]byte, maxPacket)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		now := time.Now()
		if p.free.Before(now) {
			p.free = now
		}
		if p.rand.Float64() < p.opt.Loss || p.free.Sub(now) > max(minQueue, p.opt.RoundTrip) {
			continue
		}
		if p.opt.Rate > 0 {
			p.free = p.free.Add(time.Duration(float64(8*n) / p.opt.Rate * float64(time.Second)))
		}
		select {
		case p.queue <- packet{append([]byte(nil), buf[:n]...), p.free.Add(p.opt.RoundTrip / 2)}:
		default:
		}
	}
}

// give writes packets when their time has come.
func (p *pipe) give() {
	for x := range p.queue {
		if d := time.Until(x.at); d > 0 {
			time.Sleep(d)
		}
		p.count.Add(uint64(len(x.data)))        // before it can have come: who has it looks at the count
		if n, _ := p.to.Write(x.data); n <= 0 { // a device that is closed or down takes nothing
			p.count.Add(-uint64(len(x.data)))
		}
	}
}
