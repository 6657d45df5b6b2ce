package worker

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/hostmem"
	"github.com/rocwire/rocwire/worker/quota"
)

// maxWaiting bounds the calls of one session that wait off the line. Each is a thread of the client that waits for its reply, or a copy that
// asked for one.
const maxWaiting = 16384

// freeWaiting of them do not count as memory: a program that has none left can still wait for what it has begun.
const freeWaiting = 256

// notifier is what a session needs of its connection beyond replies.
type notifier interface {
	Notify(op uint16, payload []byte) error
}

// session executes one client's calls. Messages come on one goroutine, in the order they were sent, and are executed in that order; what
// has to wait does so on a goroutine of its own and replies later.
type session struct {
	rt           hip.Runtime
	placer       hip.Placer    // nil if the runtime places memory itself
	direct       hip.Direct    // nil if this process cannot reach device memory
	meter        copyMeter     // nil if the runtime does not account copies
	follower     hip.Follower  // nil if host functions of the runtime's do as well
	copier       copier        // nil if the runtime cannot copy without waiting, but through its own memory
	reacher      reacher       // nil if all devices may access what is accessible
	holder       holder        // nil if memory stays where it is
	idler        idler         // nil if nobody knows whether anything is under way
	settle       func()        // has what kernels have printed sent; nil if it is already
	untranslated func() uint64 // of Opened
	hosts        hostPlacer    // nil if copies of host memory count as device memory
	near         *near         // nil if no other process can have device memory
	conn         notifier
	log          *slog.Logger
	times        callTimes
	trace        *tracer            // nil unless calls are traced
	client       func(clientReport) // takes what the client measured
	parks        bool               // waits for a client whose connection was cut

	functions  bool // the reply to a module's load has its functions
	devices    int32
	span       hip.Span // of device addresses, zero if none was agreed
	contents   contents // nil if the parent keeps none
	handles    handleTable
	mem        *hostmem.Account // of host memory; nil: no limit
	backlog    backlog          // nil if the runtime bounds what is queued itself
	mostQueued int64            // 0: no limit
	lent       uint64           // of the account, for what is queued beyond that
	stage      *staging
	host       hostRegions
	funcs      hostFuncs
	graphs     graphs
	fails      failures
	waiting    atomic.Int64
	calls      atomic.Uint64
	op         atomic.Uint32 // being executed on the line
	opSince    atomic.Int64  // as mono.Now
	over       chan struct{} // closed when the connection is gone
	endOnce    sync.Once
	pending    pendingReplies
	launch     hip.Launch // being executed on the line
}

// copier is a runtime that copies from and to memory of this process in a stream's turn without making the caller wait. done is called
// in any case if the answer is Success: in that turn, or with over when it is over.
type copier interface {
	CopyIn(t hip.Thread, dst hip.Ptr, src []byte, s hip.Stream, done func(hip.Error)) hip.Error
	CopyOut(t hip.Thread, dst []byte, src hip.Ptr, s hip.Stream, over bool, done func(hip.Error)) hip.Error
	// Copy3D is either for a box: host is the memory of the side that is host memory.
	Copy3D(t hip.Thread, p *hip.DrvMEMCPY3D, host []byte, s hip.Stream, over bool, done func(hip.Error)) hip.Error
}

// copyMeter is a runtime that accounts copies, and is told of those the session makes itself through hip.Direct.
type copyMeter interface {
	Copied(ptr hip.Ptr, n uint64, in bool, took time.Duration)
}

// copied tells the runtime of a copy that began at begin (mono.Now).
func (s *session) copied(ptr hip.Ptr, n uint64, in bool, begin int64) {
	if s.meter != nil {
		s.meter.Copied(ptr, n, in, mono.Since(begin))
	}
}

// newSession prepares a session over rt. Optional abilities of the runtime are found here.
func newSession(rt hip.Runtime, conn notifier, log *slog.Logger) *session {
	s := &session{rt: rt, conn: conn, log: log, times: newCallTimes(), over: make(chan struct{})}
	s.placer, _ = rt.(hip.Placer)
	s.direct, _ = rt.(hip.Direct)
	s.copier, _ = rt.(copier)
	s.follower, _ = rt.(hip.Follower)
	s.meter, _ = rt.(copyMeter)
	s.hosts, _ = rt.(hostPlacer)
	s.reacher, _ = rt.(reacher)
	s.holder, _ = rt.(holder)
	s.backlog, _ = rt.(backlog)
	s.idler, _ = rt.(idler)
	s.stage = newStaging(hiprpc.MaxStaged + 64<<20)
	if s.copier == nil {
		s.stage.pins = newPins(rt)
	}
	s.funcs.init()
	if n, err := rt.GetDeviceCount(); err == hip.Success {
		s.devices = n
	}
	return s
}

// limit puts quotas, none yet, in front of the runtime, and what it is for a program elsewhere. What copies is not limited and goes on to the runtime itself.
func (s *session) limit() *quota.Runtime {
	q := quota.New(s.rt, s.mem)
	s.rt, s.placer = remoteView{q}, q.Placer()
	return q
}

// Handle executes one message. It is called in arrival order. The request's tag is the life that the call is of, see failures.
func (s *session) Handle(r *wire.Request) {
	s.drain(r)
	r.Tag = s.fails.life.Load()
	s.opSince.Store(r.Started())
	s.op.Store(uint32(r.Op))
	s.calls.Add(1)
	if !s.dispatch(r) && !s.own(r) {
		s.reply(r, hip.ErrorNotSupported, nil)
	}
	s.op.Store(0)
}

// own executes the operations that are no HIP function.
func (s *session) own(r *wire.Request) bool {
	switch r.Op {
	case hiprpc.OpGrant:
		s.doGrant(r)
	case hiprpc.OpReturn:
		s.doReturn(r)
	case hiprpc.OpMallocAt:
		s.doMallocAt(r)
	case hiprpc.OpHostFuncDone:
		s.doHostFuncDone(r)
	case hiprpc.OpHostExpose:
		s.doHostExpose(r)
	case hiprpc.OpHostHide:
		s.doHostHide(r)
	case hiprpc.OpHostPush:
		s.doHostPush(r)
	case hiprpc.OpHostPull:
		s.doHostPull(r)
	case hiprpc.OpHostClaim:
		s.doHostClaim(r)
	case hiprpc.OpHostRelease:
		s.doHostRelease(r)
	case hiprpc.OpModuleLoadContent:
		s.doModuleLoadContent(r)
	case hiprpc.OpNear:
		s.doNear(r)
	case rpcstats.Op, rpcstats.OpSlow:
		s.doClientReport(r)
	case rpctrace.Op:
		if s.trace == nil {
			return false // not agreed on
		}
		s.doClientReport(r)
	default:
		return false
	}
	return true
}

// reply answers a request with a code and results. Where the client asked for no reply, a failure is reported as an asynchronous error.
func (s *session) reply(r *wire.Request, code hip.Error, results []byte) {
	if !r.NoReply() {
		s.printed()
	}
	t := s.answering(r, code)
	if code != hip.Success && (r.NoReply() || asyncCopy(r)) {
		s.fault(r.Tag, r.Op, s.requestDevice(r), s.streamOf(r), code, "")
	}
	_ = r.Reply(int32(code), results)
	s.answered(r, code, t)
}

// replyBulk answers with results and bulk data.
func (s *session) replyBulk(r *wire.Request, results, bulk []byte) {
	s.printed()
	t := s.answering(r, hip.Success)
	_ = r.ReplyBulk(int32(hip.Success), results, bulk) // a lost connection is noticed where messages are read
	s.answered(r, hip.Success, t)
}

// malformed answers a request whose fixed part makes no sense.
func (s *session) malformed(r *wire.Request) {
	s.log.Warn("malformed request", "op", hiprpc.OpName(r.Op), "bytes", len(r.Fixed))
	s.reply(r, hip.ErrorInvalidValue, nil)
}

// wait runs f, which replies to the request it is given, beside the line.
func (s *session) wait(r *wire.Request, f func(r *wire.Request)) {
	n, cost := s.waiting.Add(1), uint64(0)
	if n > freeWaiting {
		cost = hostmem.Call
	}
	if n > maxWaiting || !s.mem.Take(cost) {
		s.waiting.Add(-1)
		s.reply(r, hip.ErrorOutOfMemory, nil)
		return
	}
	k := r.Retain()
	go func() {
		defer s.mem.Give(cost)
		defer s.waiting.Add(-1)
		f(k)
	}()
}

// mayWait is wait for a call whose caller waits for it. One that nobody waits for keeps its turn.
func (s *session) mayWait(r *wire.Request, f func(r *wire.Request)) {
	if r.NoReply() {
		f(r)
		return
	}
	s.wait(r, f)
}

// device answers whether a thread's device exists.
func (s *session) device(d int32) hip.Error {
	if d < 0 || d >= s.devices {
		return hip.ErrorInvalidDevice
	}
	return hip.Success
}

// end is called once the connection is gone: it lets go of everything that waits for the client.
func (s *session) end() {
	s.endOnce.Do(func() {
		close(s.over)
		s.stage.end()
	})
}
