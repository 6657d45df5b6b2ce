package hiprpc

import (
	"flag"
	"reflect"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/hexdoc"
)

var rewrite = flag.Bool("rewrite", false, "write the examples of docs/protocol.md anew")

// TestProtocolDoc: the HIP messages of docs/protocol.md are those of this package.
func TestProtocolDoc(t *testing.T) {
	doc, err := hexdoc.Open("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, q, empty message, parts ...any) {
		b := q.Append(nil)
		if !empty.Decode(b) || !reflect.DeepEqual(q, empty) {
			t.Errorf("%s: %+v was read", name, empty)
		}
		var lines []hexdoc.Line
		for i := 0; i < len(parts); i += 2 {
			n := parts[i].(int)
			lines = append(lines, hexdoc.Line{Groups: [][]byte{b[:n]}, Text: parts[i+1].(string)})
			b = b[n:]
		}
		if len(b) > 0 {
			t.Fatalf("%s: %d bytes have no words", name, len(b))
		}
		if err := doc.Check("hip: "+name, lines); err != nil && !*rewrite {
			t.Error(err)
		}
	}
	thread := hip.Thread{Device: 0, ID: 3}
	check("hipMemsetAsync", &MemsetAsyncRequest{Thread: thread, Dst: 0x7f0000000000, Value: 255, SizeBytes: 1024}, new(MemsetAsyncRequest),
		4, "device", 4, "thread", 8, "dst", 4, "value", 8, "sizeBytes", 8, "stream")
	check("hipMemGetInfo", &MemGetInfoRequest{Thread: thread}, new(MemGetInfoRequest), 4, "device", 4, "thread")
	check("hipMemGetInfo's results", &MemGetInfoReply{Free: 64 << 30, Total: 192 << 30}, new(MemGetInfoReply), 8, "free", 8, "total")
	c := &Copy{Dir: ToDevice, Dst: 0x7f0000000000, Dpitch: 1024, Spitch: 1024, Width: 1024, Height: 1, DstDevice: -1, SrcDevice: -1}
	check("hipMemcpy", c, new(Copy), 4, "device", 1, "direction: to the device", 8, "stream", 8, "destination", 8, "source: the client's, 0", 8, "bytes from row to row there",
		8, "and here", 8, "width in bytes", 8, "height in rows", 4, "device of the destination, of a copy between two", 4, "and of the source", 1, "0: the client waits")
	if names := doc.Unchecked("hip: "); len(names) > 0 {
		t.Errorf("nothing checks the examples %q", names)
	}
	if *rewrite {
		if err := doc.Rewrite(); err != nil {
			t.Error(err)
		}
	}
}
