package worker

import (
	"errors"
	"testing"

	"github.com/rocwire/rocwire/worker/quota/joint"
)

// TestJointAlone: a session process that has no joint account cannot ask for one.
func TestJointAlone(t *testing.T) {
	q := jointRequest{ID: 1, Kind: jointTake, A: 1 << 20}
	if err := (&Server{}).askedJoint(&proc{}, &sessionRecord{}, q.encode()); !errors.Is(err, errControl) {
		t.Error(err)
	}
}

// FuzzJoint: what a session process asks for, and what the parent answers, is decoded whole or not at all.
func FuzzJoint(f *testing.F) {
	f.Add((&jointRequest{ID: 1, Kind: jointTake, Card: joint.Card{At: 7, UUID: [16]byte{1, 2}}, A: 4096, B: 1}).encode()[1:])
	f.Add((&jointRequest{Kind: jointTrimmed}).encode()[1:])
	f.Add((&jointReply{ID: 3, A: 1 << 40, B: 1}).encode()[1:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var q jointRequest
		if err := q.decode(b); err == nil {
			if string(q.encode()[1:]) != string(b) {
				t.Errorf("%x is %+v", b, q)
			}
		} else if !errors.Is(err, errControl) {
			t.Error(err)
		}
		var a jointReply
		if a.decode(b) == nil && string(a.encode()[1:]) != string(b) {
			t.Errorf("%x is %+v", b, a)
		}
	})
}
