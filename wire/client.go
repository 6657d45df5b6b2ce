package wire

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Defaults of Options.
const (
	DefaultConnectTimeout = 30 * time.Second
	DefaultIOTimeout      = 60 * time.Second
	DefaultHeartbeat      = 5 * time.Second
)

// Options say how a client connects.
type Options struct {
	Address string // host:port, or unix:PATH
	// TLS, if not nil, is how the server is known, by TLS 1.3. Without a ServerName it must have a certificate for the address's host. A Unix socket
	// needs none of it: the kernel says who is there.
	TLS            *tls.Config
	ConnectTimeout time.Duration // for connection and handshake together
	IOTimeout      time.Duration // how long the server may be silent while something is pending
	NoShare        bool          // do not share memory with a server on this machine
	Hello          Hello
	// Token, if not nil, is asked for the token of the Hello, anew for every handshake: tokens are replaced. It is sent to this machine and by TLS only;
	// to others it makes the handshake fail.
	Token func() (string, error)
	// OnNotify is called with every notice of a user operation, one at a time and in order, together with the done functions of Go,
	// on a goroutine of its own. It may call the client. payload is its to keep.
	OnNotify func(op uint16, payload []byte)
	// AtOnce is offered every notice first, where it is read: before the replies that were sent after it are given to those who wait. True: it is
	// done with. It does not call the client, and payload is not its to keep. While it waits, nothing is read. May be nil.
	AtOnce func(op uint16, payload []byte) bool
	// Awaited says whether notices are awaited that nobody's call waits for, so that they are read soon after they have come even where calls
	// are few. May be nil: none are. It does not call the client.
	Awaited func() bool
	// OnLost is called once when the connection has ended for any other reason than Close, after all pending calls have got the error.
	OnLost func(err error)
	// Reconnect is how long a connection that was cut is tried to be made again, where the server can go on with it; 0: not at all. Meanwhile calls
	// wait. It does not concern Unix sockets.
	Reconnect time.Duration
	// OnCut and OnResumed are told of that, one after the other, on a goroutine of their own. May be nil.
	OnCut     func(err error)
	OnResumed func(after time.Duration)

	redial  func(context.Context, timeLimit) (net.Conn, error) // nil if there is nothing to cut
	inquire func(context.Context, timeLimit) (net.Conn, error) // nil if the server cannot be asked
}

// Msg is a request and the place of its reply. It may be used again after the call has returned.
type Msg struct {
	Req  []byte // fixed part of the request
	Bulk []byte // bulk data of the request, sent from where it lies
	Loan *Loan  // not nil: Bulk stays the client's until that is returned; of Go only
	Lend bool   // Bulk stays the client's until the server has taken it (see Reclaim); of Go only
	Dst  []byte // where bulk data of the reply goes; more than fits is a protocol violation

	Code int32  // of the reply
	Rep  []byte // results of the reply; its memory is used again by the next call
	DstN int    // bytes of bulk data in the reply
	// Timing is where the time went on the server, if Timed: if that was agreed on and the reply carries it.
	Timing Timing
	Timed  bool

	op      uint16
	id      uint32
	total   int  // bulk bytes that a reply of several frames announced
	lent    lent // bulk data that is on its way
	started bool
	done    bool // resolved; from here on the client does not touch the message
	err     error
	lead    bool // woken to read, not because it is resolved
	wake    chan struct{}
	abed    bool // waits in the bed, not for wake
	bed     bed
	next    *Msg // in the list of followers
	prev    *Msg
	then    func(*Msg, error) // of Go
}

var msgPool = sync.Pool{New: func() any { return &Msg{wake: make(chan struct{}, 1)} }}

// GetMsg gives an empty message; Req and Rep have length 0 and may have capacity.
func GetMsg() *Msg { return msgPool.Get().(*Msg) }

// PutMsg returns a message that no call is using. The caller keeps no slice of Req and Rep.
func PutMsg(m *Msg) {
	if cap(m.Req) > 64<<10 {
		m.Req = nil
	}
	if cap(m.Rep) > 64<<10 {
		m.Rep = nil
	}
	m.Req, m.Rep, m.Bulk, m.Loan, m.Lend, m.Dst, m.then, m.err = m.Req[:0], m.Rep[:0], nil, nil, false, nil, nil, nil
	m.Code, m.DstN, m.Timed = 0, 0, false
	msgPool.Put(m)
}

// ID is the number of the request, which is the same on the server, once it has been sent.
func (m *Msg) ID() uint32 { return m.id }

// Client is one connection to a server. All methods are safe for concurrent use.
type Client struct {
	link    // its in is of whoever has the read role
	welcome Welcome
	opt     Options
	seq     uint32        // last id given, under out.mu
	wrapped bool          // seq has been through all numbers
	stuck   atomic.Bool   // a send does not get on
	lends   atomic.Uint64 // messages with bulk data that was lent until the server takes it (Msg.Lend)
	back    atomic.Uint64 // of the first so many of them all bulk data has been given back
	reads   atomic.Uint64 // times a caller has taken the read role
	again   *again        // nil if a cut is the end
	inquest *inquest      // nil if there is nobody to ask then
	over    chan struct{} // closed when everything has been given back

	notShared error // why the connection does not go through shared memory; nil if it does

	// Under mu.
	pending   map[uint32]*Msg
	unheeded  int  // of pending: nobody waits for the reply in a call
	reading   bool // the read role is taken
	followers Msg  // ring of callers that wait for their reply while another reads
	dead      bool // the connection has ended and everything pending has been told

	calls  callbacks
	woken  []*Msg   // of who reads: followers to be called out of their beds
	unpack unpacker // of who reads
}

// Welcome is the server's answer to the Hello.
func (c *Client) Welcome() *Welcome { return &c.welcome }

// NotShared says why the connection does not go through shared memory, nil if it does.
func (c *Client) NotShared() error { return c.notShared }

// newClient starts a client on a connection whose handshake is done.
func newClient(t transport, opt Options, w *Welcome, host, port string) *Client {
	c := &Client{welcome: *w, opt: opt, pending: make(map[uint32]*Msg), over: make(chan struct{})}
	c.host, c.port, c.them, c.t, c.in = host, port, "server", t, newIn(t)
	if w.HasFeature(FeaturePacked) && slices.Contains(opt.Hello.Features, FeaturePacked) {
		c.out.pack = &packer{path: c.path}
	}
	c.timed = w.HasFeature(FeatureTiming) && slices.Contains(opt.Hello.Features, FeatureTiming)
	c.followers.next, c.followers.prev = &c.followers, &c.followers
	c.out.init(t)
	c.out.version = w.Protocol
	c.out.blocked, c.out.fail = c.blocked, c.fail
	k := newKeeper(&c.out, t, opt.IOTimeout)
	k.beat = min(time.Duration(w.HeartbeatMS)*time.Millisecond, opt.IOTimeout/4)
	k.ping = func() {
		if !c.isCut() {
			c.out.header(OpPing, c.nextID(), 0, FlagNoReply)
		}
	}
	k.reading = func() (bool, uint64) {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.reading, c.reads.Load()
	}
	k.eager = c.eager
	k.read, k.lost, k.waiting, k.within = c.keeperRead, c.fail, c.waiting, c.in.within.Load
	c.in.tick = k.tick
	c.k, c.out.k = k, k
	if opt.redial != nil && w.HasFeature(FeatureResume) && slices.Contains(opt.Hello.Features, FeatureResume) && w.Secret != nil {
		c.again = &again{dial: opt.redial, secret: w.Secret}
		c.again.ctx, c.again.cancel = context.WithCancel(context.Background())
		c.outlive(c.reconnect, c.starved)
		c.out.glance = c.glance
	}
	if c.again == nil && opt.inquire != nil && w.Session != 0 {
		c.inquest = &inquest{dial: opt.inquire}
	}
	c.welcome.Secret = nil
	go c.keep()
	return c
}

// keep runs the keeper and, when the connection has ended, gives the transport back once nobody uses it.
func (c *Client) keep() {
	defer close(c.over)
	c.k.run()
	if c.again != nil {
		c.again.cancel()
		c.again.mu.Lock() // nobody tries any more
		defer c.again.mu.Unlock()
	}
	c.release()
}

// Call sends a request and waits for its reply. The error is nil if a reply came, whatever its code. After an error Dst is the caller's again.
func (c *Client) Call(op uint16, m *Msg) error {
	m.then = nil
	if m.wake == nil {
		m.wake = make(chan struct{}, 1)
	}
	if _, err := c.send(op, m.Req, m.Bulk, m, true); err != nil {
		return err
	}
	c.await(m)
	c.out.release(m.lent) // as a rule the acknowledgement has come with the reply
	return m.err
}

// Go sends a request and returns; done runs with the reply or the error, on the goroutine that also runs OnNotify. Until then the
// message is the client's; Bulk is the caller's again when Go returns, unless it is on loan. If Go returns an error, done is not called.
func (c *Client) Go(op uint16, m *Msg, done func(*Msg, error)) error {
	_, err := c.GoID(op, m, done)
	return err
}

// GoID is Go that tells the request's number.
func (c *Client) GoID(op uint16, m *Msg, done func(*Msg, error)) (id uint32, err error) {
	m.then = done
	return c.send(op, m.Req, m.Bulk, m, false)
}

// Post sends a request that is not answered. req and bulk are the caller's again when it returns.
func (c *Client) Post(op uint16, req, bulk []byte) error {
	_, err := c.send(op, req, bulk, nil, false)
	return err
}

// PostID is Post that tells the request's number.
func (c *Client) PostID(op uint16, req, bulk []byte) (id uint32, err error) {
	return c.send(op, req, bulk, nil, false)
}

// Sent is how many bytes have left for the server, or wait for a connection that was cut to be made again.
func (c *Client) Sent() uint64 { return c.out.bytes.Load() }

// Flush sends what was posted so far, or has it sent by who is sending already.
func (c *Client) Flush() error {
	c.out.mu.Lock()
	c.out.flush()
	c.out.mu.Unlock()
	return c.Err()
}

// How long Close tries to say that it ends, behind what is on its way, how often, and how long it then waits for the server's end.
const (
	closePatience = time.Second
	partPoll      = 50 * time.Microsecond
	lingerTime    = time.Second
	lingerPoll    = time.Millisecond
)

// Close ends the connection in order. Pending calls get ErrClosed. One that lasts ends when the server has ended it, too, if that is soon.
func (c *Client) Close() error {
	err := c.error(ErrClosed, "", nil)
	c.because(err) // before the server can answer SHUTDOWN by ending the connection
	o := &c.out
	o.mu.Lock()
	c.seq++
	c.part(c.seq, "", closePatience)
	o.mu.Unlock()
	c.linger()
	c.fail(err)
	// If nobody reads, the keeper comes to tell what is pending; wait for that so that nobody's memory is in use any more.
	<-c.over
	return nil
}

// linger reads on until the server has ended the connection, which it does when it has read SHUTDOWN. If nobody read any more, whatever it still sends would make this
// machine cut the connection, with what is on its way to the server, and the session would wait for a client that does not come back.
func (c *Client) linger() {
	if c.lasting == nil || c.isCut() {
		return
	}
	c.lasting.leave()
	ended := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.dead
	}
	for end := time.Now().Add(lingerTime); !ended() && time.Now().Before(end); {
		if !c.readIf(lingerPoll) {
			time.Sleep(partPoll) // somebody else reads
		}
	}
}

// send appends a message and sends it if now, and tells its number. m is nil for a posted one.
func (c *Client) send(op uint16, req, bulk []byte, m *Msg, now bool) (id uint32, err error) {
	if len(req) > fixedMax(0) || len(bulk) > maxMessage {
		return 0, fmt.Errorf("wire: request of %d and %d bytes is too long", len(req), len(bulk))
	}
	var loan *Loan
	var lend bool
	if m != nil { // which may be somebody else's before this returns
		loan, lend = m.Loan, m.Lend
	}
	o, flags := &c.out, FlagNoReply
	direct := o.direct(0, len(req), len(bulk), m == nil)
	if !o.begin(direct) {
		o.mu.Unlock()
		return 0, c.Err()
	}
	id = c.nextID()
	if m != nil {
		flags = 0
		if err := c.register(op, id, m); err != nil {
			if direct {
				o.drain(nil)
			}
			o.mu.Unlock()
			return id, err
		}
	}
	dead := o.dead
	l := o.put(op, id, flags, 0, nil, req, bulk, direct, now, false, !now && loan == nil && !lend)
	o.mu.Unlock()
	switch {
	case now:
		m.lent = l
	case loan != nil:
		loan.add(l)
	case lend:
		c.lends.Add(1)
	default:
		c.collect(l)
		o.release(l)
	}
	if m == nil && (direct || dead) {
		return id, c.Err()
	}
	return id, nil // the fate of a call is in its message
}

// nextID gives the next number, with out.mu. A number that is still pending from 2^32 messages ago is used up by a PING.
func (c *Client) nextID() uint32 {
	for {
		c.seq++
		if c.seq == 0 {
			c.wrapped = true
		}
		if !c.wrapped {
			return c.seq
		}
		c.mu.Lock()
		_, taken := c.pending[c.seq]
		c.mu.Unlock()
		if !taken {
			return c.seq
		}
		c.out.header(OpPing, c.seq, 0, FlagNoReply)
	}
}

func (c *Client) register(op uint16, id uint32, m *Msg) error {
	m.op, m.id = op, id
	m.Code, m.Rep, m.DstN, m.Timed = 0, m.Rep[:0], 0, false
	m.total, m.started, m.done, m.lead, m.err = 0, false, false, false, nil
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return c.cause
	}
	c.pending[id] = m
	if m.then != nil {
		c.unheeded++
	}
	return nil
}
