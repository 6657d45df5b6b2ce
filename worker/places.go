package worker

import (
	"context"
	"slices"
	"sync"
	"time"
)

// placesTime is how long management data may take to say where the cards are.
const placesTime = 2 * time.Second

// places are the addresses of the cards, which stay.
type places struct {
	mu sync.Mutex
	at map[int]busAddress // nil until they are known
}

// card is the one at an address, of some; false if there is none, or more than one: the parts of a divided card have one address.
func (p *places) card(b *Backend, at busAddress, of []int) (card int, ok bool) {
	known := p.known(b)
	is := func(c int) bool { here, ok := known[c]; return ok && here == at }
	i := slices.IndexFunc(of, is)
	if i < 0 || slices.ContainsFunc(of[i+1:], is) {
		return 0, false
	}
	return of[i], true
}

// known asks for them the first time. Without management data there are none.
func (p *places) known(b *Backend) map[int]busAddress {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at != nil || b.Source == nil {
		return p.at
	}
	ctx, cancel := context.WithTimeout(context.Background(), placesTime)
	defer cancel()
	devices, err := b.Source.Devices(ctx)
	if err != nil {
		return nil
	}
	p.at = map[int]busAddress{}
	for _, d := range devices {
		if bdf, ok := d.BDF.Get(); ok {
			p.at[d.Index] = addressOfBDF(bdf)
		}
	}
	return p.at
}
