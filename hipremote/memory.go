package hipremote

import (
	"sync"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// Credit is asked for in slabs of this many bytes beyond what is needed now: small, because memory granted to an idle client is missing
// elsewhere.
const slab = 16 << 20

// maxDevices is how many devices of a worker can have credit.
const maxDevices = 64

// memory is the client's account of device memory. The lower half of the agreed range, or its part of it (Space), is its own to place allocations
// in; with credit for the capacity, hipMalloc is a posted message.
type memory struct {
	span   atomic.Pointer[addressRange] // agreed, nil if none
	shared *Space                       // that it is shared in, nil if it is not; set before span
	// unit is 0, or the size of the pieces in which the worker has memory: then it grants nothing, and its own addresses lie outside of the span.
	// Set before span.
	unit uint64
	// outside says that blocks may be device memory although they do not lie in the span.
	outside atomic.Bool

	mu        sync.RWMutex
	places    *places
	blocks    blocks
	credit    [maxDevices]uint64 // bytes granted and not used
	asked     [maxDevices]bool   // there was a question for credit
	lastID    uint32             // that a block was given
	syncs     atomic.Bool        // there has been a block whose copies wait
	pools     [maxDevices]ownPool
	arenas    [maxDevices][]*arena
	reserved  blocks // addresses of hipMemAddressReserve
	variables blocks // of modules, in the span

	last atomic.Pointer[block] // of device memory that was looked up, nil after any was removed; set with mu, to read or to write

	freedLast atomic.Uint64 // number of the block that was freed last; changes under mu

	grant [maxDevices]sync.Mutex // one request for credit at a time
}

// reserve starts the account on a range; the zero range means that the worker places.
func (m *memory) reserve(r addressRange, shared *Space, part uint32, unit uint64) {
	if r.size == 0 {
		return
	}
	mine := hiprpc.PlaceSpan(r.span(), 0, 0)
	if shared != nil {
		shared.agreed(r)
		mine = hiprpc.PlaceSpan(r.span(), part, shared.parts)
	}
	m.mu.Lock()
	m.shared, m.places, m.unit = shared, newPlaces(mine.Base, mine.Size, pageSize), unit
	m.mu.Unlock()
	m.outside.Store(unit != 0)
	m.span.Store(&r)
}

// abandon gives the range's addresses back, but for host memory that the program may still read.
func (m *memory) abandon() {
	r := m.span.Load()
	if r == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.places == nil {
		return
	}
	m.places = nil
	if m.shared != nil && !m.shared.leave() {
		return // others still use the range
	}
	for _, gap := range m.gaps(*r) {
		unmap(gap.base, gap.size)
	}
}

// gaps are the parts of a range in which the program has no host memory. Memory that another client allocated elsewhere, because its worker
// could not have the range, is none of the range's.
func (m *memory) gaps(r addressRange) (list []addressRange) {
	at, end := r.base, r.base+r.size
	for _, b := range m.blocks {
		if b.host == nil || b.host.registered || b.base < at || b.base+b.size > end {
			continue
		}
		if b.base > at {
			list = append(list, addressRange{at, b.base - at})
		}
		at = b.base + b.size
	}
	if end > at {
		list = append(list, addressRange{at, end - at})
	}
	return list
}

// inRange says whether an address is a device address by where it lies.
func (m *memory) inRange(p hip.Ptr) bool {
	r := m.span.Load()
	return r != nil && uint64(p)-r.base < r.size
}

// find is the block an address lies in, nil if the client knows none.
func (m *memory) find(p hip.Ptr) *block {
	m.mu.RLock()
	b := m.blocks.find(uint64(p))
	m.mu.RUnlock()
	return b
}

// has says whether n bytes at p are device memory that this session has. Programs ask about the same block many times in a row.
func (m *memory) has(p hip.Ptr, n uint64) bool {
	if b := m.last.Load(); b != nil && b.holds(uint64(p), n) {
		return true
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	b := m.blocks.find(uint64(p))
	if b == nil || b.host != nil || !b.holds(uint64(p), n) {
		return false
	}
	m.last.Store(b)
	return true
}

// remove forgets a block. Called with mu.
func (m *memory) remove(b *block) {
	m.blocks.remove(b)
	m.last.Store(nil)
}

func roundUp(n uint64) uint64 { return (n + pageSize - 1) &^ (pageSize - 1) }

// Malloc is hipMalloc.
func (c *Client) Malloc(t hip.Thread, size uint64) (hip.Ptr, hip.Error) {
	ct := c.begin()
	p, code := c.malloc(&ct, t, size)
	c.end(&ct, hip.OpMalloc, code)
	return p, code
}

func (c *Client) malloc(ct *callTime, t hip.Thread, size uint64) (hip.Ptr, hip.Error) {
	l, code := c.ready()
	if code == hip.Success {
		code = c.async.sticky(t.Device)
	}
	if code != hip.Success || size == 0 {
		return 0, code
	}
	if size > 1<<46 {
		return 0, hip.ErrorOutOfMemory
	}
	if c.mem.span.Load() == nil || t.Device < 0 || t.Device >= maxDevices {
		return c.mallocThere(ct, l, t, size)
	}
	b, code := c.placeBlock(ct, l, t.Device, size)
	if code != hip.Success {
		return 0, code
	}
	c.mem.mu.Lock()
	c.mem.blocks.insert(b)
	c.mem.mu.Unlock()
	return hip.Ptr(b.base), hip.Success
}

// take finds addresses for size bytes.
func (m *memory) take(size uint64) (uint64, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.places == nil {
		return 0, false
	}
	return m.places.take(size)
}

// takeHost finds addresses for size bytes of host memory.
func (m *memory) takeHost(size uint64) (uint64, bool) {
	size = m.hostSize(size)
	if m.shared != nil {
		return m.shared.take(size)
	}
	return m.take(size)
}

// putHost gives them back.
func (m *memory) putHost(base, size uint64) {
	size = m.hostSize(size)
	if m.shared != nil {
		m.shared.put(base, size)
		return
	}
	m.put(base, size)
}

// put gives addresses back.
func (m *memory) put(base, size uint64) {
	m.mu.Lock()
	if m.places != nil {
		m.places.put(base, size)
	}
	m.mu.Unlock()
}

// placeBlock makes a block of device memory at an address of the client's choice. It is not in the table yet.
func (c *Client) placeBlock(ct *callTime, l *link, device int32, size uint64) (*block, hip.Error) {
	if c.mem.unit != 0 {
		return c.placeUnits(ct, l, device, size)
	}
	rounded := roundUp(size)
	if code := c.spend(ct, l, device, rounded); code != hip.Success {
		return nil, code
	}
	base, ok := c.mem.take(rounded)
	if !ok {
		c.giveCredit(ct, l, device, rounded)
		return nil, hip.ErrorOutOfMemory
	}
	req := hiprpc.Place{Device: device, Addr: hip.Ptr(base), Size: rounded}.Append(make([]byte, 0, 32))
	if err := l.Post(hiprpc.OpMallocAt, req, nil); err != nil {
		return nil, c.broken(l, err)
	}
	return &block{base: base, size: rounded, want: size, device: device}, hip.Success
}

// spend takes size bytes of credit, and asks the worker for more if there is not enough.
func (c *Client) spend(ct *callTime, l *link, device int32, size uint64) hip.Error {
	if c.takeCredit(device, size) {
		return hip.Success
	}
	g := &c.mem.grant[device]
	g.Lock()
	defer g.Unlock()
	if c.takeCredit(device, size) { // another thread has just asked
		return hip.Success
	}
	c.mem.mu.RLock()
	missing := size - min(size, c.mem.credit[device])
	c.mem.mu.RUnlock()
	c.mem.firstOf(device)
	code := c.askCredit(ct, l, device, missing, slab)
	if code == hip.Success && c.takeCredit(device, size) {
		return hip.Success
	}
	// Memory that hipFreeAsync has freed may still be held for its stream.
	if c.reclaim(device) {
		c.mem.mu.RLock()
		missing = size - min(size, c.mem.credit[device])
		c.mem.mu.RUnlock()
		if code = c.askCredit(ct, l, device, missing, 0); code == hip.Success && c.takeCredit(device, size) {
			return hip.Success
		}
	}
	if code == hip.Success {
		code = hip.ErrorOutOfMemory
	}
	return code
}

func (c *Client) takeCredit(device int32, size uint64) bool {
	c.mem.mu.Lock()
	defer c.mem.mu.Unlock()
	if c.mem.credit[device] < size {
		return false
	}
	c.mem.credit[device] -= size
	return true
}

// giveCredit takes credit back that was not used, and gives the worker what is more than a slab.
func (c *Client) giveCredit(ct *callTime, l *link, device int32, size uint64) {
	c.mem.mu.Lock()
	c.mem.credit[device] += size
	over := uint64(0)
	if c.mem.credit[device] > 2*slab {
		over = c.mem.credit[device] - slab
		c.mem.credit[device] = slab
	}
	c.mem.mu.Unlock()
	if over > 0 {
		// Who frees that much may tell another process that there is room now; so it is there when the call returns.
		_ = c.plainCall(ct, l, hiprpc.OpReturn, hiprpc.Place{Device: device, Size: over}.Append(nil)) // lost: it is given back all the same
	}
}

// askCredit asks for what is missing and, where the device has that much, extra bytes beyond. Less than what is missing is not taken even for a moment, in
// which other sessions would find nothing; a worker that does not know of the least grants it, and is given it back.
func (c *Client) askCredit(ct *callTime, l *link, device int32, missing, extra uint64) hip.Error {
	if missing > 1<<62 { // no card has it, and sums of it wrap
		return hip.ErrorOutOfMemory
	}
	for _, want := range [...]uint64{missing + extra, missing} {
		got, code := c.callU64(ct, l, hiprpc.OpGrant, hiprpc.Place{Device: device, Addr: hip.Ptr(missing), Size: want}.Append(nil))
		if code == hip.Success && got%hip.Granule == 0 {
			c.mem.mu.Lock()
			c.mem.credit[device] += got
			c.mem.mu.Unlock()
			if got >= missing {
				return hip.Success
			}
			code = hip.ErrorOutOfMemory
			c.giveBack(l, device, got)
		}
		if code != hip.ErrorOutOfMemory || extra == 0 {
			return code
		}
	}
	return hip.ErrorOutOfMemory
}

// creditAhead asks for a slab without waiting for it, before the first allocation on a device whose turn seems near. Whoever needs
// credit meanwhile waits for this.
func (c *Client) creditAhead(l *link, device int32) {
	if !c.mem.firstOf(device) {
		return
	}
	g := &c.mem.grant[device]
	g.Lock()
	m := wire.GetMsg()
	m.Req = hiprpc.Place{Device: device, Size: slab}.Append(m.Req[:0])
	err := l.Go(hiprpc.OpGrant, m, func(m *wire.Msg, err error) {
		defer wire.PutMsg(m)
		defer g.Unlock()
		d := wire.NewDec(m.Rep)
		if got := d.U64(); err == nil && m.Code == 0 && d.Done() && got%hip.Granule == 0 && got <= slab {
			c.mem.mu.Lock()
			c.mem.credit[device] += got
			c.mem.mu.Unlock()
		}
	})
	if err != nil {
		wire.PutMsg(m)
		g.Unlock()
	}
}

// firstOf notes that there is a question for credit, and reports whether it is the first for a device where memory is placed on credit.
func (m *memory) firstOf(device int32) bool {
	if m.span.Load() == nil || m.unit != 0 || device < 0 || device >= maxDevices {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	first := !m.asked[device]
	m.asked[device] = true
	return first
}

// giveBack returns a grant that is too small to be of use.
func (c *Client) giveBack(l *link, device int32, n uint64) {
	c.mem.mu.Lock()
	n = min(n, c.mem.credit[device])
	c.mem.credit[device] -= n
	c.mem.mu.Unlock()
	if n > 0 {
		_ = l.Post(hiprpc.OpReturn, hiprpc.Place{Device: device, Size: n}.Append(nil), nil) // lost: it is given back all the same
	}
}

// mallocThere lets the worker place: there is no agreed range.
func (c *Client) mallocThere(ct *callTime, l *link, t hip.Thread, size uint64) (hip.Ptr, hip.Error) {
	p, code := c.callU64(ct, l, hip.OpMalloc, hiprpc.Place{Device: t.Device, Size: size}.Append(nil))
	if code != hip.Success {
		return 0, code
	}
	c.mem.mu.Lock()
	c.mem.blocks.insert(&block{base: p, size: 0, want: size, device: t.Device})
	c.mem.mu.Unlock()
	return hip.Ptr(p), hip.Success
}

// callU64 is a call whose result is one number.
func (c *Client) callU64(ct *callTime, l *link, op uint16, req []byte) (uint64, hip.Error) {
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	m.Req = append(m.Req[:0], req...)
	if err := ct.call(l, op, m); err != nil {
		return 0, c.broken(l, err)
	}
	code := hip.Error(m.Code)
	if !code.Valid() {
		return 0, hip.ErrorUnknown
	}
	if code != hip.Success {
		return 0, code
	}
	d := wire.NewDec(m.Rep)
	v := d.U64()
	if !d.Done() {
		return 0, c.violation(op)
	}
	return v, hip.Success
}

// plainCall is a call without results.
func (c *Client) plainCall(ct *callTime, l *link, op uint16, req []byte) hip.Error {
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	m.Req = append(m.Req[:0], req...)
	if err := ct.call(l, op, m); err != nil {
		return c.broken(l, err)
	}
	if code := hip.Error(m.Code); code.Valid() {
		return code
	}
	return hip.ErrorUnknown
}

// MemGetInfo is hipMemGetInfo. Credit that is not used counts as free there.
func (c *Client) MemGetInfo(t hip.Thread) (free, total uint64, code hip.Error) {
	if free, total, code = c.memGetInfo(t); code != hip.Success {
		return 0, 0, code
	}
	return min(free+c.mem.unused(t.Device), total), total, hip.Success
}
