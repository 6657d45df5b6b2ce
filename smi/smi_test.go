package smi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"
)

func TestOptEncodings(t *testing.T) {
	type box struct {
		A Opt[Watts]    `json:"a" msgpack:"a,omitempty"`
		B Opt[Watts]    `json:"b" msgpack:"b,omitempty"`
		C Opt[Bytes]    `json:"c" msgpack:"c,omitempty"`
		D Opt[BDF]      `json:"d" msgpack:"d,omitempty"`
		E Opt[Duration] `json:"e" msgpack:"e,omitempty"`
		F Opt[bool]     `json:"f" msgpack:"f,omitempty"`
	}
	in := box{A: Some(Watts(0)), C: Some(Bytes(1<<64 - 1)), D: Some(BDF{0x1_0000, 0xc1, 0x1f, 7}), E: Some(Duration(1500 * time.Millisecond)), F: Some(false)}
	j, err := json.Marshal(in)
	if want := `{"a":0,"b":null,"c":18446744073709551615,"d":"10000:c1:1f.7","e":1.5,"f":false}`; err != nil || string(j) != want {
		t.Errorf("JSON %s, %v, want %s", j, err, want)
	}
	var out box
	if err := json.Unmarshal(j, &out); err != nil || out != in {
		t.Errorf("from JSON %+v, %v", out, err)
	}
	m, err := msgpack.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	out = box{B: Some(Watts(3))}
	if err := msgpack.Unmarshal(m, &out); err != nil {
		t.Fatal(err)
	}
	out.B = None[Watts]() // a missing field leaves what was there
	if out != in {
		t.Errorf("from MessagePack %+v", out)
	}
	var raw map[string]any
	if err := msgpack.Unmarshal(m, &raw); err != nil {
		t.Fatal(err)
	}
	if _, there := raw["b"]; there || len(raw) != 5 {
		t.Errorf("what is not available is on the wire: %v", raw)
	}
}

func TestParseBDF(t *testing.T) {
	for in, want := range map[string]string{
		"0000:c1:00.0": "0000:c1:00.0", "c1:00.0": "0000:c1:00.0", "10000:01:1f.7": "10000:01:1f.7", "0001:AB:10.3": "0001:ab:10.3",
	} {
		b, err := ParseBDF(in)
		if err != nil || b.String() != want {
			t.Errorf("ParseBDF(%q) = %s, %v, want %s", in, b, err, want)
		}
	}
	for _, in := range []string{"", "c1", "c1:00", "c1:00.8", "c1:20.0", "c1:00.0 ", "0:c1:00.0", "0000:1c1:00.0", "0000:c1:00.0.0", "+000:c1:00.0", "c1:+0.0"} {
		if b, err := ParseBDF(in); !errors.Is(err, ErrInvalid) {
			t.Errorf("ParseBDF(%q) = %s, %v", in, b, err)
		}
	}
}

func TestErrors(t *testing.T) {
	cause := errors.New("cause")
	err := fmt.Errorf("outside: %w", Errorf(ErrNoPermission, "reading power: %w", cause))
	if !errors.Is(err, ErrNoPermission) || errors.Is(err, ErrNotFound) || !errors.Is(err, cause) {
		t.Errorf("%v is not what it is", err)
	}
	for _, c := range []struct {
		err  error
		code Code
	}{
		{err, ErrNoPermission},
		{fmt.Errorf("x: %w", ErrNotSupported), ErrNotSupported},
		{context.DeadlineExceeded, ErrTimeout},
		{context.Canceled, ErrUnavailable},
		{cause, ErrInternal},
		{FailureOf(err).Err(), ErrNoPermission},
	} {
		if got := CodeOf(c.err); got != c.code {
			t.Errorf("CodeOf(%v) = %v, want %v", c.err, got, c.code)
		}
	}
	if FailureOf(nil).Err() != nil {
		t.Error("no failure is an error")
	}
}

func TestAttribute(t *testing.T) {
	ada, eve := Client{User: "ada"}, Client{User: "eve"}
	ps := []Process{{PID: 1}, {PID: 2}, {PID: 3, Session: "9", Client: &ada}, {PID: 0}}
	Attribute(ps, []Session{{ID: "4", PID: 2, Client: eve}, {ID: "5", PID: 3, Client: eve}, {ID: "6"}})
	want := []Process{{PID: 1}, {PID: 2, Session: "4", Client: &eve}, {PID: 3, Session: "9", Client: &ada}, {PID: 0}}
	if !reflect.DeepEqual(ps, want) {
		t.Errorf("got %+v, want %+v", ps, want)
	}
}

func TestDurationJSON(t *testing.T) {
	for _, bad := range []string{`"x"`, `1e300`, `true`} {
		var d Duration
		if err := json.Unmarshal([]byte(bad), &d); err == nil {
			t.Errorf("%s became %v", bad, d)
		}
	}
}

func FuzzParseBDF(f *testing.F) {
	f.Add("0000:c1:00.0")
	f.Add("c1:1f.7")
	f.Fuzz(func(t *testing.T, s string) {
		b, err := ParseBDF(s)
		if err != nil {
			return
		}
		if again, err := ParseBDF(b.String()); err != nil || again != b {
			t.Fatalf("%q: %+v became %+v, %v", s, b, again, err)
		}
	})
}
