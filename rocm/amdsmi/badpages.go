package amdsmi

import (
	"context"

	"github.com/rocwire/rocwire/smi"
)

// BadPages implements smi.Source.
func (s *Source) BadPages(ctx context.Context, index int) ([]smi.BadPage, error) {
	return ask(ctx, s, index, askBadPages, (*reader).badPages)
}

// maxBadPages is how many are read; a card with that many is broken.
const maxBadPages = 1 << 12

// pageStates are the values of amdsmi_memory_page_status_t.
var pageStates = map[uint64]string{0: smi.PageReserved, 1: smi.PagePending, 2: smi.PageUnreservable}

func (r *reader) badPages() ([]smi.BadPage, error) {
	count, n := r.mem.alloc(4)
	n.putUint32(0)
	if err := r.call(fnBadPageInfo, count, 0); err != nil {
		return nil, r.explain(err)
	}
	var list []smi.BadPage
	room := n.length(oneUint32, maxBadPages)
	if room == 0 {
		return list, nil
	}
	l := &r.l().retiredPageRecord
	// The library writes as many as there are, whatever it was told: leave room for
	// some that are found meanwhile.
	const meanwhile = 64
	at, array := r.mem.alloc(l.size * (room + meanwhile))
	if err := r.call(fnBadPageInfo, count, at); err != nil {
		return nil, r.explain(err)
	}
	for i := range min(n.length(oneUint32, maxBadPages), room+meanwhile) {
		p := array[i*l.size : (i+1)*l.size]
		state, _ := p.raw(l.status, 0)
		page := smi.BadPage{Address: p.counter(l.pageAddress).Or(0), Size: smi.Bytes(p.num(l.pageSize).Or(0)), State: pageStates[state]}
		if page.Size != 0 && page.State != "" {
			list = append(list, page)
		}
	}
	return list, nil
}
