package wire

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

var sampleHello = Hello{
	Client: "hipremote", Version: "0.1", Purpose: "hip", Host: "node7", PID: 4711, Executable: "/usr/bin/hello_hip", User: "ada",
	Container: "c1", Pod: "p1", Namespace: "ns", TraceParent: "00-1-2-3", Features: []string{"credit"},
	HeartbeatMS: 5000, TraceSeed: 1 << 63, TraceEvery: 100, Details: []byte{0x80},
}

func TestHelloRoundTrip(t *testing.T) {
	b, err := sampleHello.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseHello(b)
	if err != nil || !reflect.DeepEqual(*got, sampleHello) {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestHelloBytes(t *testing.T) {
	h, err := ParseHello(unhex(t, "82 a6 636c69656e74 a3 616263 a3 706964 cd 1267"))
	if err != nil || h.Client != "abc" || h.PID != 4711 {
		t.Fatalf("%+v, %v", h, err)
	}
}

func TestHelloUnknownFields(t *testing.T) {
	b, err := msgpack.Marshal(map[string]any{"client": "x", "new": map[string]any{"a": []int{1, 2}, "b": nil}, "also": []byte{1}, "f": 1.5})
	if err != nil {
		t.Fatal(err)
	}
	if h, err := ParseHello(b); err != nil || h.Client != "x" {
		t.Fatalf("%+v, %v", h, err)
	}
}

func TestHelloBad(t *testing.T) {
	deep := append([]byte{0x81, 0xa1, 'x'}, bytes.Repeat([]byte{0x91}, 1000)...)
	for name, b := range map[string][]byte{
		"empty":             {},
		"no map":            {0x93, 1, 2, 3},
		"truncated":         {0x82, 0xa1, 'x', 1},
		"bytes after":       {0x80, 0},
		"deep":              append(deep, 0xc0),
		"array of billions": {0x81, 0xa8, 'f', 'e', 'a', 't', 'u', 'r', 'e', 's', 0xdd, 0xff, 0xff, 0xff, 0xff},
		"reserved code":     {0x81, 0xa1, 'x', 0xc1},
		"wrong type":        {0x81, 0xa3, 'p', 'i', 'd', 0xa1, 'x'},
		"too long":          append([]byte{0x81, 0xa1, 'x', 0xc6, 0, 2, 0, 0}, make([]byte, 2<<16)...),
	} {
		if _, err := ParseHello(b); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, h := range map[string]Hello{
		"text":     {Executable: strings.Repeat("x", maxHelloText+1)},
		"features": {Features: make([]string, maxHelloItems+1)},
		"feature":  {Features: []string{strings.Repeat("x", 65)}},
		"details":  {Details: make([]byte, maxHelloDetails+1)},
	} {
		if _, err := h.Append(nil); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: sent, %v", name, err)
		}
		b, err := msgpack.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseHello(b); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: taken, %v", name, err)
		}
	}
}

func TestGrantFeatures(t *testing.T) {
	got := GrantFeatures([]string{"b", "x", "a"}, []string{"a", "b", "c"})
	if !reflect.DeepEqual(got, []string{"a", "b"}) || GrantFeatures(nil, []string{"a"}) != nil {
		t.Error(got)
	}
}

func FuzzHello(f *testing.F) {
	b, err := sampleHello.Append(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	w, err := AppendMap(nil, &Welcome{Version: "1", Session: 3, Features: []string{"a"}, Details: []byte{0x80}, Error: "no"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(w)
	f.Add([]byte{0x81, 0xa1, 'x', 0xc9, 0, 0, 0, 1, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if w, err := parseWelcome(b); err == nil {
			if _, err := AppendMap(nil, w); err != nil {
				t.Fatal(err)
			}
		}
		h, err := ParseHello(b)
		if err != nil {
			if !errors.Is(err, ErrProtocol) {
				t.Fatal(err)
			}
			return
		}
		again, err := h.Append(nil)
		if err != nil {
			t.Fatalf("%+v: %v", h, err)
		}
		h2, err := ParseHello(again)
		if err != nil || !bytes.Equal(again, must(h2.Append(nil))) {
			t.Fatalf("%+v became %+v, %v", h, h2, err)
		}
	})
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
