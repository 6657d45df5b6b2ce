package hipremote

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/aside"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/workerlist"
	"github.com/rocwire/rocwire/wire"
)

// Client is a hip.Runtime on a worker. All methods are safe for concurrent use.
type Client struct {
	hip.Unimplemented
	cfg                         Config
	uploadPatience, uploadEvery time.Duration
	times                       callTimes
	guard                       forkGuard
	async                       asyncErrors
	cache                       cache
	mem                         memory
	host                        hostMemory
	funcs                       hostFuncs
	inTurns                     *atomic.Int64 // functions of InTurn that have not ended, of all clients of a Space; more if a device was reset before their turn
	handles                     sessionHandles
	functions                   functions
	recordings                  recordings
	launches                    launches
	graphs                      graphs
	aside                       aside.Streams // for copies that this process makes in the turn of a stream or of a graph
	stage                       window
	landings                    landings
	work                        work
	nearing                     sync.Mutex // of asking for device memory to be mapped here

	among    atomic.Int32         // see Among
	link     atomic.Pointer[link] // nil until connected
	ctx      context.Context      // ends with the client
	cancel   context.CancelFunc
	mu       sync.Mutex // of connecting
	failed   error      // why the last attempt failed
	retryAt  time.Time
	forkOnce sync.Once
	closed   bool
}

// link is an established connection.
type link struct {
	*wire.Client
	direct    bool    // copies from the device may have any size
	claims    bool    // host memory may have its own addresses there, too
	functions bool    // a module that is loaded comes with its functions
	content   bool    // a module can be loaded by what it is
	near      bool    // device memory can be mapped here
	phases    bool    // the worker leaves the phases of calls to this side
	timed     bool    // the worker tells how long it took, and takes what follows from that
	trace     *tracer // nil unless some calls are traced
	held      held
	letGo     func() // sends what is held
	lost      sync.Once
	stop      chan struct{}
}

var _ hip.Runtime = (*Client)(nil)

// New returns a client that connects when it is first used.
func New(cfg Config) *Client {
	if cfg.Host == "" {
		cfg.Host = DefaultHost
	}
	if cfg.Port == "" {
		cfg.Port = DefaultPort
	}
	if cfg.ConnectTimeout <= 0 {
		cfg.ConnectTimeout = DefaultConnectTimeout
	}
	if cfg.IOTimeout <= 0 {
		cfg.IOTimeout = DefaultIOTimeout
	}
	c := &Client{cfg: cfg, times: newCallTimes(), guard: newForkGuard(), uploadPatience: uploadPatience, uploadEvery: uploadEvery, inTurns: new(atomic.Int64)}
	if cfg.Space != nil {
		c.inTurns = &cfg.Space.inTurns
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.funcs.init()
	c.stage.init(hiprpc.MaxStaged)
	c.landings.init()
	return c
}

// retryPause is how long a failed connection is not tried again: a program that asks for its devices in a loop should not stand still.
const retryPause = time.Second

// ready returns the connection and makes it if need be.
func (c *Client) ready() (*link, hip.Error) {
	if c.guard.forked() {
		c.forkOnce.Do(func() {
			c.cfg.logf("process %d is a fork of one that uses the GPU; HIP does not work across fork, use exec", os.Getpid())
		})
		return nil, hip.ErrorNotInitialized
	}
	if l := c.link.Load(); l != nil {
		return l, hip.Success
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.link.Load(); l != nil {
		return l, hip.Success
	}
	if c.closed {
		return nil, hip.ErrorNotInitialized
	}
	if c.failed != nil && time.Now().Before(c.retryAt) {
		return nil, codeOf(c.failed)
	}
	l, err := c.connect()
	if err != nil {
		if c.failed == nil || c.failed.Error() != err.Error() {
			c.cfg.logf("%v", err)
		}
		c.failed, c.retryAt = err, time.Now().Add(retryPause)
		return nil, codeOf(err)
	}
	c.failed = nil
	c.link.Store(l)
	return l, hip.Success
}

// place is where the worker is.
func (c *Client) place() (host, port string, err error) {
	if c.cfg.Locate == nil {
		return c.cfg.Host, c.cfg.Port, nil
	}
	return c.cfg.Locate(c.ctx)
}

// connect dials, and agrees on a range of device addresses.
func (c *Client) connect() (*link, error) {
	host, port, err := c.place()
	if err != nil {
		return nil, err
	}
	hello := identity()
	hello.Features = []string{featureDirect, featureUnits, featureClaims, wire.FeatureTiming, rpcstats.Feature, wire.FeaturePacked, hiprpc.FeatureFunctions, hiprpc.FeatureContent, hiprpc.FeatureNear}
	if hello.TraceEvery = c.cfg.TraceEvery; hello.TraceEvery != 0 {
		hello.TraceSeed = rand.Uint64()
		hello.Features = append(hello.Features, rpctrace.Feature)
	}
	offer := hiprpc.Offer{Devices: c.cfg.Devices[:min(len(c.cfg.Devices), hiprpc.MaxVisible)], ROCrDevices: c.cfg.ROCrDevices[:min(len(c.cfg.ROCrDevices), hiprpc.MaxVisible)]}
	var ranges []addressRange
	space := c.cfg.Space
	switch {
	case space != nil:
		space.agreeing.Lock()
		defer space.agreeing.Unlock()
		offer.Part, offer.Parts = uint32(c.cfg.Part), space.parts
		hello.Features = append(hello.Features, featureParts)
		if !c.cfg.NoReserve {
			ranges = space.offer()
		}
	case !c.cfg.NoReserve:
		ranges = reserveCandidates()
	}
	for _, r := range ranges {
		offer.Ranges = append(offer.Ranges, hip.Span{Base: r.base, Size: r.size})
	}
	if hello.Details, err = offer.Append(nil); err != nil {
		return nil, err
	}
	l := &link{stop: make(chan struct{})}
	l.letGo = func() { c.letGo(l) }
	conn, err := c.dial(wire.Options{
		NoShare: c.cfg.NoShare,
		Address: workerlist.Address{Host: host, Port: port}.String(), ConnectTimeout: c.cfg.ConnectTimeout, IOTimeout: c.cfg.IOTimeout, Hello: hello,
		OnNotify: c.notice, AtOnce: c.atOnce, Awaited: func() bool { return c.funcs.due.Load() > 0 },
		OnLost:    func(err error) { c.lost(l, err) },
		Reconnect: c.cfg.Reconnect,
		OnCut:     func(err error) { c.cfg.logf("%v; trying to go on for %v", err, c.cfg.Reconnect) },
		OnResumed: func(after time.Duration) {
			c.cfg.logf("%s:%s: connected again after %v", host, port, after.Round(time.Millisecond))
		},
	})
	var chosen addressRange
	var answer hiprpc.Chosen
	if err == nil {
		if answer, err = hiprpc.ParseChosen(conn.Welcome().Details); err != nil {
			err = &wire.Error{Kind: wire.ErrProtocol, Host: host, Port: port, Reason: err.Error(), Err: err}
		}
		chosen = addressRange{answer.Range.Base, answer.Range.Size}
	}
	offered := chosen == addressRange{}
	for _, r := range ranges {
		switch {
		case r == chosen:
			offered = true
		case space == nil && chosen.size != 0 && chosen.partOf(r):
			offered = true
			trim(r, chosen)
		case space == nil || space.unused(r):
			unmap(r.base, r.size)
		}
	}
	if err != nil {
		if conn != nil {
			_ = conn.Close()
		}
		return nil, err
	}
	if !offered {
		_ = conn.Close()
		return nil, &wire.Error{Kind: wire.ErrProtocol, Host: host, Port: port, Reason: "the worker chose a range that was not offered"}
	}
	if space != nil && chosen.size != 0 && !conn.Welcome().HasFeature(featureParts) {
		_ = conn.Close()
		if space.unused(chosen) {
			unmap(chosen.base, chosen.size)
		}
		return nil, &wire.Error{Kind: wire.ErrProtocol, Host: host, Port: port, Reason: "the worker is too old to be one of several"}
	}
	l.Client, l.direct, l.timed = conn, conn.Welcome().HasFeature(featureDirect), conn.Welcome().HasFeature(wire.FeatureTiming)
	l.phases = conn.Welcome().HasFeature(rpcstats.Feature)
	l.claims = conn.Welcome().HasFeature(featureClaims)
	if conn.Welcome().HasFeature(rpctrace.Feature) {
		l.trace = newTracer(&hello)
	}
	l.functions = conn.Welcome().HasFeature(hiprpc.FeatureFunctions)
	l.content = conn.Welcome().HasFeature(hiprpc.FeatureContent)
	l.near = conn.Welcome().HasFeature(hiprpc.FeatureNear)
	c.cache.know(answer.Known)
	c.mem.reserve(chosen, space, uint32(c.cfg.Part), answer.Unit)
	c.cfg.debugf("session %d at %s:%s, backend %s, device addresses %#x+%#x", conn.Welcome().Session, host, port, conn.Welcome().Backend,
		chosen.base, chosen.size)
	if why := conn.NotShared(); why != nil {
		c.cfg.debugf("session %d: %v", conn.Welcome().Session, why)
	}
	go c.report(l)
	return l, nil
}

const (
	featureDirect = "direct"
	featureParts  = "parts"
	featureUnits  = "units"
	featureClaims = "claims"
)

// lost says once why a connection has ended. It is not made again: what the session held is gone.
func (c *Client) lost(l *link, err error) {
	l.lost.Do(func() { c.cfg.logf("%v", err) })
	c.stage.end()
	c.landings.end()
}

// Session is the session's number at the worker, 0 if there is no connection yet.
func (c *Client) Session() uint64 {
	if l := c.link.Load(); l != nil {
		return l.Welcome().Session
	}
	return 0
}

// Close ends the session. Afterwards every call answers ErrorNotInitialized.
func (c *Client) Close() error {
	if c.guard.forked() {
		return nil // the connection is the parent's
	}
	c.cancel() // who waits for a worker to be there holds mu
	c.mu.Lock()
	c.closed = true
	l := c.link.Load()
	c.mu.Unlock()
	if l == nil {
		return nil
	}
	select {
	case <-l.stop:
		return nil
	default:
		close(l.stop)
	}
	l.Leave() // a connection that is lost needs no goodbye, and is not waited for
	c.sendReport(l)
	_ = l.Flush()
	err := l.Close()
	c.stage.end()
	c.landings.end()
	c.mem.allFar()
	c.mem.abandon()
	return err
}

// codeOf is what HIP says of a failed connection.
func codeOf(err error) hip.Error {
	if errors.Is(err, wire.ErrProtocol) {
		return hip.ErrorInvalidValue
	}
	var e *wire.Error
	if errors.As(err, &e) && errors.Is(err, wire.ErrRefused) && e.Code != 0 && hip.Error(e.Code).Valid() && hip.Error(e.Code) != hip.Success {
		return hip.Error(e.Code) // the worker said why
	}
	return hip.ErrorNotInitialized
}

// broken maps the end of the connection to a code, and logs it unless that was done.
func (c *Client) broken(l *link, err error) hip.Error {
	if !errors.Is(err, wire.ErrClosed) {
		c.lost(l, err)
	}
	if code := c.async.died(); code != hip.Success {
		return code // the session told what it would end of
	}
	return codeOf(err)
}

// call sends a request and waits for its reply.
func (c *Client) call(op uint16, m *wire.Msg) hip.Error {
	ct := c.begin()
	l, code := c.calling(op, hip.Thread{Device: int32(uint32(u64(m.Req, 0)))}, hip.StreamNull)
	if code == hip.Success {
		code = c.exchange(&ct, l, op, m)
	}
	c.end(&ct, op, code)
	return code
}

// calling returns the connection, or the failure of an earlier call on the stream's device if the call op returns those.
func (c *Client) calling(op uint16, t hip.Thread, s hip.Stream) (*link, hip.Error) {
	l, code := c.ready()
	if code == hip.Success && hip.TraitsOf(op)&hip.ReturnsErrors != 0 {
		code = c.due(t, s)
	}
	return l, code
}

// exchange sends a request and returns what the worker answers.
func (c *Client) exchange(ct *callTime, l *link, op uint16, m *wire.Msg) hip.Error {
	if err := ct.call(l, op, m); err != nil {
		return c.broken(l, err)
	}
	if code := hip.Error(m.Code); code.Valid() {
		return code
	}
	return hip.ErrorUnknown
}

// posting returns the connection for a call that is not answered, or the failure of an earlier one.
func (c *Client) posting(t hip.Thread, s hip.Stream) (*link, hip.Error) {
	l, code := c.ready()
	if code == hip.Success {
		code = c.due(t, s)
	}
	return l, code
}

// send posts without looking at earlier errors, and counts it as work that the device, with whose number req begins, may be busy with.
func (c *Client) send(ct *callTime, l *link, op uint16, req, bulk []byte) hip.Error {
	tasks := c.tasksOf(int32(uint32(u64(req, 0))))
	count := &tasks.copies
	if bulk == nil {
		count = &tasks.posted
	}
	count.Add(1)
	err := ct.post(l, op, req, bulk)
	count.Add(1)
	runtime.KeepAlive(bulk)
	if err != nil {
		return c.broken(l, err)
	}
	return hip.Success
}

// violation is for a reply that makes no sense.
func (c *Client) violation(op uint16) hip.Error {
	c.cfg.logf("%s:%s: the worker's reply to %s makes no sense", c.cfg.Host, c.cfg.Port, hiprpc.OpName(op))
	return hip.ErrorInvalidValue
}

// atOnce takes notices that are of use only before what comes after them: what kernels printed, before the reply to who waited for them; what the session
// ends of, before it has ended.
func (c *Client) atOnce(op uint16, payload []byte) bool {
	var e hiprpc.AsyncError
	if op == hiprpc.NoticeAsyncError && e.Decode(payload) && e.Device == hiprpc.AllDevices {
		c.async.add(e)
		return true
	}
	return c.output(op, payload)
}

// notice takes what the worker says unasked.
func (c *Client) notice(op uint16, payload []byte) {
	switch op {
	case hiprpc.NoticeAsyncError:
		var e hiprpc.AsyncError
		if !e.Decode(payload) {
			c.violation(op)
			return
		}
		c.cfg.debugf("%s on stream %#x failed: %v %s", hiprpc.OpName(e.Op), uint64(e.Stream), e.Code, e.Text)
		c.async.add(e)
	case hiprpc.NoticeHostFunc:
		c.runHostFunc(payload)
	case hiprpc.NoticeGraphFunc:
		c.runGraphFunc(payload)
	}
}
