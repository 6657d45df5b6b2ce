package otlp

import (
	"errors"
	"net/http"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc/status"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/rocwire/rocwire/exporter/push"
)

func isPermanent(err error) bool { return errors.Is(err, push.ErrPermanent) }

// What a disk gives back is decompressed within bounds, or refused for good.
func FuzzUnpack(f *testing.F) {
	good, err := pack([]byte("body"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:5])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, record []byte) {
		body, err := unpack(record)
		if len(body) > maxBody || err != nil && !isPermanent(err) {
			t.Error(len(body), err)
		}
	})
}

// Any answer of a receiver is judged.
func FuzzAnswer(f *testing.F) {
	st, err := proto.Marshal(&spb.Status{Code: 14, Message: "later"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(503, "application/x-protobuf", "5", st)
	f.Add(302, "text/html", "", []byte("<html>\x1b[2J"))
	f.Add(429, "", "Fri, 31 Dec 1999 23:59:59 GMT", []byte{0xff})
	f.Fuzz(func(t *testing.T, code int, kind, after string, body []byte) {
		err := httpOutcome(code, http.Header{"Content-Type": {kind}, "Retry-After": {after}, "Location": {after}}, body, time.Now())
		if err == nil || len(err.Error()) > 1000 || !utf8.ValidString(err.Error()) {
			t.Errorf("%v", err)
		}
		var again *push.RetryError
		if errors.As(err, &again) && again.After < 0 {
			t.Error(again.After)
		}
		for _, r := range []reply{metricsReply, tracesReply} {
			readReply(r, body)
		}
		var s spb.Status
		if proto.Unmarshal(body, &s) == nil && s.Code != 0 {
			if err := grpcOutcome(status.FromProto(&s).Err()); err == nil {
				t.Error("no error")
			}
		}
	})
}

// Lists of the environment are read or refused.
func FuzzPairs(f *testing.F) {
	f.Add("a=b,c=d%20e")
	f.Add("=,")
	f.Add("a=%zz")
	f.Fuzz(func(t *testing.T, s string) {
		list, err := parsePairs(s)
		if err != nil && list != nil {
			t.Error(list, err)
		}
		_, _ = parseHeaders(s)
		for _, p := range []string{HTTP, GRPC} {
			sig := Signal{Endpoint: s, Protocol: p}
			if to, err := sig.target(metricsPath); err == nil && to.url == "" && to.host == "" {
				t.Errorf("%q leads nowhere", s)
			}
		}
	})
}
