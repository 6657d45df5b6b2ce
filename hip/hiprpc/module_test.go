package hiprpc

import (
	"bytes"
	"reflect"
	"testing"
)

func TestLoaded(t *testing.T) {
	l := Loaded{Module: 7, Functions: []NamedFunction{{8, "first"}, {9, ""}}}
	var got Loaded
	if b := l.Append(nil, true); !got.Decode(b, true) || !reflect.DeepEqual(got, l) {
		t.Errorf("%+v", got)
	} else if got.Decode(b, false) || got.Decode(b[:len(b)-1], true) {
		t.Error("what does not belong there was taken")
	}
	if b := l.Append(nil, false); !got.Decode(b, false) || got.Module != 7 || got.Functions != nil || got.Decode(b, true) {
		t.Errorf("without functions: %+v", got)
	}
	l.Functions = make([]NamedFunction, MaxFunctions+1)
	if got.Decode(l.Append(nil, true), true) {
		t.Error("too many functions were taken")
	}
}

func FuzzLoaded(f *testing.F) {
	f.Add((&Loaded{1, []NamedFunction{{2, "k"}}}).Append(nil, true), true)
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, false)
	f.Fuzz(func(t *testing.T, b []byte, functions bool) {
		var l Loaded
		if l.Decode(b, functions) && !bytes.Equal(l.Append(nil, functions), b) {
			t.Error("not the same again")
		}
	})
}

func TestKnownBad(t *testing.T) {
	for name, list := range map[string][]Answer{
		"bytes":  {{Rep: make([]byte, MaxKnown+1)}},
		"number": make([]Answer, maxAnswers+1),
	} {
		b, err := (&Chosen{Known: list}).Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseChosen(b); err == nil {
			t.Errorf("too much was taken: %s", name)
		}
	}
}
