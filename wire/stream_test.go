package wire

import (
	"bytes"
	"net"
	"testing"
	"time"
)

// connectionTests are those of what a connection does, whatever transport is under it.
var connectionTests = map[string]func(*testing.T){
	"ClientFrames": TestClientFrames, "ClientViolations": TestClientViolations, "ClientMixedReplies": TestClientMixedReplies,
	"ClientLost": TestClientLost, "ClientGoodbye": TestClientGoodbye, "ClientSilentServer": TestClientSilentServer,
	"ClientStuckServer": TestClientStuckServer, "ClientLongCall": TestClientLongCall, "ClientCloseWithinReply": TestClientCloseWithinReply,
	"ClientTooLong": TestClientTooLong, "ClientNumbersWrap": TestClientNumbersWrap, "Notices": TestNotices, "NoticesAtOnce": TestNoticesAtOnce,
	"NoticeFlood": TestNoticeFlood, "NoticeWhileIdle": TestNoticeWhileIdle,
	"LeavesUnread": TestLeavesUnread, "ServerFrames": TestServerFrames, "ReplyBeforeLongRequest": TestReplyBeforeLongRequest, "ServerViolations": TestServerViolations, "ServerTruncated": TestServerTruncated,
	"ServerDiscards": TestServerDiscards, "ServerMisuse": TestServerMisuse, "ServerForgotReply": TestServerForgotReply,
	"ServerSilentClient": TestServerSilentClient, "ServerClientDoesNotRead": TestServerClientDoesNotRead, "ServerClose": TestServerClose,
	"Concurrent": TestConcurrent, "UnixSocket": TestUnixSocket, "Order": TestOrder, "PostLeavesAlone": TestPostLeavesAlone,
	"LengthChangedOnTheWay": TestLengthChangedOnTheWay, "SlowFrame": TestSlowFrame, "BothDirectionsSaturated": TestBothDirectionsSaturated, "SmallSaturated": TestSmallSaturated, "EndsAnytime": TestEndsAnytime,
}

// TestStreams: all of them on the transport for systems that have no better one.
func TestStreams(t *testing.T) {
	onStreams = true
	defer func() { onStreams = false }()
	for name, test := range connectionTests {
		t.Run(name, test)
	}
}

// TestStreamLastWord: what was taken before a shutdown still arrives, also at a peer that has to catch up, and one that never reads does not hold
// up the end.
func TestStreamLastWord(t *testing.T) {
	a, b := net.Pipe()
	s := newStream(a)
	want := pattern(100000)
	if n, err := s.tryWrite(want[:60000], want[60000:]); n != len(want) || err != nil {
		t.Fatal(n, err)
	}
	s.shutdown()
	if _, err := s.tryWrite(want, nil); err == nil {
		t.Error("written after the end")
	}
	if n, err := s.read(make([]byte, 10)); n != 0 || err == nil {
		t.Error(n, err)
	}
	got := make([]byte, 0, len(want))
	p := make([]byte, 7777)
	for {
		n, err := b.Read(p)
		got = append(got, p[:n]...)
		if err != nil {
			break
		}
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes arrived", len(got), len(want))
	}
	s.close()

	a, _ = net.Pipe()
	s = newStream(a)
	if n, err := s.tryWrite(want, nil); n == 0 || err != nil {
		t.Fatal(n, err)
	}
	within(t, "close", s.close)
}

// TestStreamFull: a buffer takes no more than it holds, says when it has room again, and loses nothing where it wraps.
func TestStreamFull(t *testing.T) {
	a, b := net.Pipe()
	s := newStream(a)
	defer s.close()
	var sent, got bytes.Buffer
	next := byte(0)
	chunk := func() []byte {
		p := make([]byte, 70001)
		for i := range p {
			p[i] = next
			next = next*31 + 7
		}
		return p
	}
	for range 5 {
		for {
			p := chunk()
			n, err := s.tryWrite(p[:3], p[3:])
			sent.Write(p[:n])
			if err == errAgain {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if s.wait(writable, time.Millisecond) != 0 {
			t.Fatal("room in a full buffer")
		}
		p := make([]byte, 300000)
		for n := 0; n < len(p); {
			k, err := b.Read(p[n:])
			if err != nil {
				t.Fatal(err)
			}
			n += k
		}
		got.Write(p)
		if s.wait(readable|writable, patience) != writable {
			t.Fatal("no room after the peer has read")
		}
	}
	if !bytes.HasPrefix(sent.Bytes(), got.Bytes()) || got.Len() == 0 {
		t.Error("other bytes arrived than were sent")
	}
}

// TestStreamRest: a wake is not lost, before or during a rest.
func TestStreamRest(t *testing.T) {
	a, b := net.Pipe()
	s := newStream(a)
	defer s.close()
	s.wake()
	if woken, _ := s.rest(patience, true); !woken {
		t.Error("a wake before the rest was lost")
	}
	go s.wake()
	if woken, _ := s.rest(patience, false); !woken {
		t.Error("a wake during the rest was lost")
	}
	go func() { _, _ = b.Write([]byte{1}) }()
	if woken, in := s.rest(patience, true); woken || !in {
		t.Error("what there is to read does not end a rest")
	}
	if woken, in := s.rest(time.Millisecond, false); woken || in {
		t.Error("a rest that nothing ends")
	}
	if !s.unread() {
		t.Error("nothing unread")
	}
}
