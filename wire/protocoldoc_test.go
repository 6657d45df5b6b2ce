package wire

import (
	"crypto/hmac"
	"flag"
	"fmt"
	"net"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/internal/hexdoc"
)

var rewrite = flag.Bool("rewrite", false, "write the examples of docs/protocol.md anew")

// protocolDoc is docs/protocol.md, whose examples must be what client and server of this package say.
type protocolDoc struct {
	t   *testing.T
	doc *hexdoc.Doc
}

func openProtocolDoc(t *testing.T) *protocolDoc {
	t.Helper()
	doc, err := hexdoc.Open("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	d := &protocolDoc{t, doc}
	t.Cleanup(func() {
		if names := doc.Unchecked("wire: "); len(names) > 0 {
			t.Errorf("nothing checks the examples %q", names)
		}
		if *rewrite {
			if err := doc.Rewrite(); err != nil {
				t.Error(err)
			}
		}
	})
	return d
}

// part is how many bytes of a payload are what. 0 bytes are the rest.
type part struct {
	n    int
	text string
}

// check compares an example with frames. parts are those of the first frame's payload; the payloads of others are bulk data.
func (d *protocolDoc) check(name string, frames []byte, parts ...part) {
	d.t.Helper()
	var lines []hexdoc.Line
	for len(frames) > 0 {
		h, err := ParseHeader(frames)
		if err != nil {
			d.t.Fatal(err)
		}
		lines = append(lines, hexdoc.Line{
			Groups: [][]byte{frames[:4], frames[4:6], frames[6:8], frames[8:12], frames[12:16], frames[16:20]},
			Text:   fmt.Sprintf("magic, version, operation 0x%04x, id %d, %d bytes, flags %s", h.Op, h.ID, h.Length, flagNames(h.Flags)),
		})
		p := frames[HeaderSize : HeaderSize+h.Length]
		frames = frames[HeaderSize+h.Length:]
		for _, part := range parts {
			n := part.n
			if n == 0 {
				n = len(p)
			}
			lines = append(lines, hexdoc.Line{Groups: [][]byte{p[:n]}, Text: part.text})
			p = p[n:]
		}
		if len(p) > 0 {
			d.t.Fatalf("%s: %d bytes have no words", name, len(p))
		}
		parts = []part{{0, "bulk, the rest"}}
	}
	if err := d.doc.Check("wire: "+name, lines); err != nil && !*rewrite {
		d.t.Error(err)
	}
}

func flagNames(f Flags) string {
	s := ""
	for i, name := range []string{"RESPONSE", "ERROR", "INLINE_DATA", "NO_REPLY", "MORE", "TIMED"} {
		if f&(1<<i) != 0 {
			s += " | " + name
		}
	}
	if s == "" {
		return "0"
	}
	return s[3:]
}

// The secret of the examples.
var docSecret = func() (b []byte) {
	for i := range byte(secretSize) {
		b = append(b, i)
	}
	return b
}()

var docHello = Hello{
	Client: "example", Version: "1", Purpose: "hip", Host: "node7", PID: 4711, Executable: "/bin/x", User: "ada",
	Features: []string{FeatureResume}, HeartbeatMS: 5000,
}

// TestProtocolDoc: docs/protocol.md says what the package comment says, and its examples are what client and server send and understand.
func TestProtocolDoc(t *testing.T) {
	d := openProtocolDoc(t)
	d.comment()
	docHandshakes(t, d)
	docCalls(t, d)
}

// comment compares the sections of the package comment.
func (d *protocolDoc) comment() {
	b, err := os.ReadFile("doc.go")
	if err != nil {
		d.t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(b), "\npackage wire")
	var plain strings.Builder
	for l := range strings.Lines(text + "\n") {
		plain.WriteString(strings.TrimPrefix(strings.TrimPrefix(l, "//"), " "))
	}
	for _, section := range strings.Split(plain.String(), "\n# ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		if err := d.doc.Text("package wire: "+name, text); err != nil && !*rewrite {
			d.t.Error(err)
		}
	}
}

func docHandshakes(t *testing.T, d *protocolDoc) {
	hello := func(name string, h Hello) {
		p, err := h.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		f := frame(OpInit, 0, 0, p)
		d.check(name, f, part{0, "MessagePack map"})
		a, b := net.Pipe()
		defer a.Close()
		go func() { _, _ = a.Write(f) }()
		got, head, err := ReadHello(b, patience)
		if err != nil {
			t.Fatal(err)
		}
		h.Protocol, h.Sum = head.Version, got.Sum
		if !reflect.DeepEqual(*got, h) {
			t.Errorf("%s: %+v was read", name, got)
		}
		if r := got.Resume; r != nil && !hmac.Equal(r.Proof, r.prove(docSecret)) {
			t.Errorf("%s: the proof is wrong", name)
		}
	}
	welcome := func(name string, w Welcome) {
		f, err := appendWelcome(nil, &w)
		if err != nil {
			t.Fatal(err)
		}
		d.check(name, f, part{4, fmt.Sprintf("code %d", w.Code)}, part{0, "MessagePack map"})
		got, err := parseWelcome(f[HeaderSize+4:])
		if err != nil {
			t.Fatal(err)
		}
		got.Code = w.Code
		if !reflect.DeepEqual(*got, w) {
			t.Errorf("%s: %+v was read", name, got)
		}
	}
	hello("Hello", docHello)
	welcome("Welcome", Welcome{Version: "1", Session: 7, Backend: "sim", Features: []string{FeatureResume}, HeartbeatMS: 5000, Secret: docSecret})
	welcome("refusal", Welcome{Code: 100, Error: "all sessions are taken"})
	again := docHello
	again.Resume = &Resumption{Session: 7, Attempt: 1, Received: 4096}
	again.Resume.Prove(docSecret)
	hello("Hello that resumes", again)
	welcome("Welcome back", Welcome{Session: 7, Features: []string{FeatureResume}, Received: 300})

	f := appendAck(nil, Version, 4096)
	d.check("ACK", f, part{8, "4096 bytes of the stream have been taken"})
	if n, found := new(walker).walk(f); !found || n != 4096 {
		t.Errorf("an acknowledgement of %d bytes was found", n)
	}
}
