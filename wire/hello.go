package wire

import "slices"

// Hello is what a client says of itself. All of it is a claim that the server may show but must not rely upon.
type Hello struct {
	Client      string      `msgpack:"client"`  // name of the client library or program
	Version     string      `msgpack:"version"` // of the client, for people
	Purpose     string      `msgpack:"purpose"` // what the session is for: "hip" or "smi"
	Host        string      `msgpack:"host"`
	PID         int64       `msgpack:"pid"`
	Executable  string      `msgpack:"executable"`
	User        string      `msgpack:"user"`
	Container   string      `msgpack:"container,omitempty"`
	Pod         string      `msgpack:"pod,omitempty"`
	Namespace   string      `msgpack:"namespace,omitempty"`
	Token       string      `msgpack:"token,omitempty"`
	TraceParent string      `msgpack:"traceparent,omitempty"`  // W3C trace context
	Features    []string    `msgpack:"features,omitempty"`     // wanted
	HeartbeatMS uint32      `msgpack:"heartbeat_ms,omitempty"` // longest silence of the server that the client would like
	TraceSeed   uint64      `msgpack:"trace_seed,omitempty"`   // of package rpctrace: which calls are traced
	TraceEvery  uint32      `msgpack:"trace_every,omitempty"`  // one of so many calls is traced; 0: none
	Details     []byte      `msgpack:"details,omitempty"`      // what the purpose adds, in a form of its own
	Resume      *Resumption `msgpack:"resume,omitempty"`       // to go on with a connection that was cut
	Protocol    uint16      `msgpack:"-"`                      // version of the frame header it came in
	Sum         uint32      `msgpack:"-"`                      // CRC32-C of the frame it came in
}

// Welcome is the server's answer.
type Welcome struct {
	Version     string    `msgpack:"version"` // of the server, for people
	Session     uint64    `msgpack:"session"` // id of the session
	Backend     string    `msgpack:"backend"`
	Features    []string  `msgpack:"features,omitempty"` // of those wanted, the ones granted
	Details     []byte    `msgpack:"details,omitempty"`  // what the purpose adds, in a form of its own
	HeartbeatMS uint32    `msgpack:"heartbeat_ms"`       // both sides send something at least this often
	Secret      []byte    `msgpack:"secret,omitempty"`   // to resume the connection with, where FeatureResume is granted
	Received    uint64    `msgpack:"received,omitempty"` // of a resumption: bytes that the server has got since the first Welcome
	Error       string    `msgpack:"error,omitempty"`    // why the client is refused
	Later       bool      `msgpack:"later,omitempty"`    // a client that is refused, and comes again in a while, may be let in
	Code        int32     `msgpack:"-"`                  // 0, or the code of the refusal; travels as the reply's code
	Protocol    uint16    `msgpack:"-"`                  // negotiated frame version; 0 means Version
	sums        [2]uint32 // on a client: CRC32-C of the frames of Hello and Welcome
}

// Limits within a Hello or Welcome. A field over its limit makes the whole handshake a protocol violation.
const (
	maxHelloText    = 8 << 10
	maxHelloItems   = 64
	maxHelloDetails = 32 << 10
)

// HasFeature reports whether the server granted a feature.
func (w *Welcome) HasFeature(name string) bool { return slices.Contains(w.Features, name) }

// GrantFeatures gives the wanted features that are also offered, in the order of the offer.
func GrantFeatures(wanted, offered []string) []string {
	var granted []string
	for _, f := range offered {
		if slices.Contains(wanted, f) {
			granted = append(granted, f)
		}
	}
	return granted
}

// ParseHello decodes and checks the payload of an INIT request.
func ParseHello(b []byte) (*Hello, error) {
	h := new(Hello)
	if err := ParseMap(b, h); err != nil {
		return nil, err
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	return h, nil
}

// Append adds the MessagePack form to b. It fails if a field is over its limit.
func (h *Hello) Append(b []byte) ([]byte, error) {
	if err := h.check(); err != nil {
		return b, err
	}
	return AppendMap(b, h)
}

func (h *Hello) check() error {
	for _, s := range []string{h.Client, h.Version, h.Purpose, h.Host, h.Executable, h.User, h.Container, h.Pod, h.Namespace, h.Token, h.TraceParent} {
		if len(s) > maxHelloText {
			return violation(Header{}, "Hello: a text of %d bytes", len(s))
		}
	}
	if len(h.Details) > maxHelloDetails {
		return violation(Header{}, "Hello: details of %d bytes", len(h.Details))
	}
	if err := h.Resume.check(); err != nil {
		return err
	}
	return checkFeatures(h.Features)
}

// parseWelcome decodes and checks the payload of the reply to INIT, after its code.
func parseWelcome(b []byte) (*Welcome, error) {
	w := new(Welcome)
	if err := ParseMap(b, w); err != nil {
		return nil, err
	}
	if len(w.Version) > maxHelloText || len(w.Backend) > maxHelloText || len(w.Error) > maxHelloText {
		return nil, violation(Header{}, "Welcome: text too long")
	}
	if len(w.Details) > maxHelloDetails {
		return nil, violation(Header{}, "Welcome: details of %d bytes", len(w.Details))
	}
	if w.Secret != nil && len(w.Secret) != secretSize {
		return nil, violation(Header{}, "Welcome: a secret of %d bytes", len(w.Secret))
	}
	return w, checkFeatures(w.Features)
}

func checkFeatures(names []string) error {
	if len(names) > maxHelloItems {
		return violation(Header{}, "handshake: %d features", len(names))
	}
	for _, f := range names {
		if len(f) > 64 {
			return violation(Header{}, "handshake: a feature's name of %d bytes", len(f))
		}
	}
	return nil
}
