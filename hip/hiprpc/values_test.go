package hiprpc

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// message is a request or a reply that the table makes.
type message interface {
	Append(b []byte) []byte
	Decode(b []byte) bool
}

// Every message is decoded from what it was encoded as, and from nothing shorter or longer.
func TestGeneratedMessages(t *testing.T) {
	for _, make := range allMessages {
		b := make().Append([]byte("x"))[1:]
		if again := make(); !again.Decode(b) || !bytes.Equal(again.Append(nil), b) {
			t.Errorf("%T is not what it was encoded as", again)
		}
		if m := make(); m.Decode(append(b, 0)) || len(b) > 0 && m.Decode(b[:len(b)-1]) {
			t.Errorf("%T takes a message of another length", m)
		}
	}
}

func TestLists(t *testing.T) {
	q := MemPoolSetAccessRequest{MemPool: 7, DescList: []hip.MemAccessDesc{{Flags: 3}, {Location: hip.MemLocation{Id: 2}}}}
	b := q.Append(nil)
	var got MemPoolSetAccessRequest
	if !got.Decode(b) || len(got.DescList) != 2 || got.DescList[0].Flags != 3 || got.DescList[1].Location.Id != 2 || got.MemPool != 7 {
		t.Errorf("%+v", got)
	}
	at := len(b) - 2*12 - 4
	binary.LittleEndian.PutUint32(b[at:], 3)
	if got.Decode(b) {
		t.Error("a list is longer than its message")
	}
	big := binary.LittleEndian.AppendUint32(append([]byte{}, b[:at]...), MaxList+1)
	if got.Decode(append(big, make([]byte, 12*(MaxList+1))...)) {
		t.Error("a list is longer than any may be")
	}
	view := TexObjectCreateRequest{}
	if b := view.Append(nil); !view.Decode(b) || view.PResViewDesc != nil {
		t.Error("null became something")
	}
	view.PResViewDesc = &hip.DrvResourceViewDesc{Width: 5}
	if b := view.Append(nil); !view.Decode(b) || view.PResViewDesc == nil || view.PResViewDesc.Width != 5 {
		t.Error("a struct that may be null was lost")
	}
}

func FuzzGeneratedMessages(f *testing.F) {
	for i, make := range allMessages {
		f.Add(uint16(i), make().Append(nil))
	}
	f.Fuzz(func(t *testing.T, which uint16, b []byte) {
		m := allMessages[int(which)%len(allMessages)]()
		if m.Decode(b) && !bytes.Equal(m.Append(nil), b) {
			t.Errorf("%T: % x became % x", m, b, m.Append(nil))
		}
	})
}

func TestStreamOf(t *testing.T) {
	q := StreamWaitValue32Request{Stream: 77, Ptr: 5, Mask: 9}
	b := q.Append(nil)
	if s, ok := StreamOf(hip.OpStreamWaitValue32, b); !ok || s != 77 {
		t.Errorf("stream %d, %v", s, ok)
	}
	if _, ok := StreamOf(hip.OpStreamWaitValue32, b[1:]); ok {
		t.Error("a message that is too short is on a stream")
	}
	if _, ok := StreamOf(hip.OpDeviceSynchronize, b); ok {
		t.Error("a call without a stream is on one")
	}
}

// TestOpNames: a HIP function has one name whichever way it travels, and what has none of HIP's is told to users.
func TestOpNames(t *testing.T) {
	doc, err := os.ReadFile("../../docs/call-latency.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for op := OpGrant; op <= OpNear; op++ {
		name := OpName(op)
		if name == "" || strings.HasPrefix(name, "hip") {
			continue
		}
		if seen[name] || !bytes.Contains(doc, []byte("`"+name+"`")) {
			t.Errorf("%s is the name of two, or docs/call-latency.md does not say what it is", name)
		}
		seen[name] = true
	}
	for op, want := range map[uint16]string{OpMallocAt: "hipMalloc", OpModuleLoadContent: "hipModuleLoadData", OpGrant: "grant", 0xffff: ""} {
		if got := OpName(op); got != want {
			t.Errorf("%#x is %q, want %q", op, got, want)
		}
	}
}
