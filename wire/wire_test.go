package wire

import (
	"bytes"
	"testing"
)

func TestEcho(t *testing.T) {
	c := start(t, &testServer{t: t}, Options{})
	for _, n := range []int{0, 1, bulkCopy, bulkCopy + 1, MaxBulk, MaxPayload, 3*MaxPayload + 5} {
		m := GetMsg()
		m.Req = append(m.Req, "fixed"...)
		m.Bulk = bytes.Repeat([]byte{1, 2, 3, 5, 7}, n/5+1)[:n]
		m.Dst = make([]byte, n)
		if err := c.Call(opEcho, m); err != nil {
			t.Fatal(err)
		}
		if m.Code != 0 || string(m.Rep) != "fixed" || m.DstN != n || !bytes.Equal(m.Bulk, m.Dst) {
			t.Fatalf("%d bytes: code %d results %q bulk %d", n, m.Code, m.Rep, m.DstN)
		}
		PutMsg(m)
	}
	m := GetMsg()
	if err := c.Call(0x7777, m); err != nil || m.Code != -1 {
		t.Fatal(err, m.Code)
	}
}

func BenchmarkCall(b *testing.B) {
	c := start(b, HandlerFunc(func(r *Request) { _ = r.Reply(0, r.Fixed) }), Options{})
	m := GetMsg()
	m.Req = make([]byte, 32)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Call(opEcho, m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPost(b *testing.B) {
	c := start(b, HandlerFunc(func(r *Request) {
		if !r.NoReply() {
			_ = r.Reply(0, r.Fixed)
		}
	}), Options{})
	m := GetMsg()
	req := make([]byte, 48)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Post(opEcho, req, nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := c.Call(opEcho, m); err != nil {
		b.Fatal(err)
	}
}
