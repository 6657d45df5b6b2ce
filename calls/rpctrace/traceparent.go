package rpctrace

import (
	"encoding/hex"
	"strings"
)

// TraceParent is a W3C trace context.
type TraceParent struct {
	TraceID [16]byte
	Parent  [8]byte // identity of the span
	Sampled bool
}

// ParseTraceParent reads the value of a traceparent header or the environment variable
// TRACEPARENT, as https://www.w3.org/TR/trace-context/ defines it. What is malformed,
// or has an identity of zeros, is none.
func ParseTraceParent(s string) (TraceParent, bool) {
	const size = 2 + 1 + 32 + 1 + 16 + 1 + 2
	var t TraceParent
	if len(s) < size || s[2] != '-' || s[35] != '-' || s[52] != '-' || strings.ToLower(s[:size]) != s[:size] {
		return t, false
	}
	var version, flags [1]byte
	for _, f := range []struct {
		to   []byte
		from string
	}{{version[:], s[:2]}, {t.TraceID[:], s[3:35]}, {t.Parent[:], s[36:52]}, {flags[:], s[53:55]}} {
		if _, err := hex.Decode(f.to, []byte(f.from)); err != nil {
			return TraceParent{}, false
		}
	}
	if version[0] == 0xff || version[0] == 0 && len(s) != size || len(s) > size && s[size] != '-' ||
		t.TraceID == ([16]byte{}) || t.Parent == ([8]byte{}) {
		return TraceParent{}, false
	}
	t.Sampled = flags[0]&1 != 0
	return t, true
}
