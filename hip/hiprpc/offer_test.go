package hiprpc

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

var sampleOffer = Offer{
	Ranges: []hip.Span{{Base: 1 << 44, Size: 1 << 40}, {Base: 1 << 45, Size: 1 << 38}}, Devices: "0,2", ROCrDevices: "GPU-1", Part: 1, Parts: 3,
}

func TestOffer(t *testing.T) {
	b, err := sampleOffer.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseOffer(b); err != nil || !reflect.DeepEqual(*got, sampleOffer) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := ParseOffer(nil); err != nil || !reflect.DeepEqual(*got, Offer{}) {
		t.Errorf("nothing: %+v, %v", got, err)
	}
	c := Chosen{Range: sampleOffer.Ranges[1], Unit: 2 << 20, Known: []Answer{{Op: 5, Req: []byte{1}, Rep: []byte{2, 3}}}}
	b, err = c.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseChosen(b); err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := ParseChosen(nil); err != nil || got.Range != (hip.Span{}) {
		t.Errorf("nothing chosen: %+v, %v", got, err)
	}
}

// TestOfferBad: what is over a limit is neither sent nor taken.
func TestOfferBad(t *testing.T) {
	for name, o := range map[string]Offer{
		"ranges":   {Ranges: make([]hip.Span, maxRanges+1)},
		"wrapping": {Ranges: []hip.Span{{Base: 1 << 63, Size: 1<<63 + 1}}},
		"devices":  {Devices: strings.Repeat("1", MaxVisible+1)},
		"rocr":     {ROCrDevices: strings.Repeat("1", MaxVisible+1)},
		"part":     {Part: 2, Parts: 2},
		"no parts": {Part: 1},
		"parts":    {Parts: MaxParts + 1},
	} {
		if _, err := o.Append(nil); !errors.Is(err, wire.ErrProtocol) {
			t.Errorf("%s: sent, %v", name, err)
		}
		b, err := wire.AppendMap(nil, &o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseOffer(b); !errors.Is(err, wire.ErrProtocol) {
			t.Errorf("%s: taken, %v", name, err)
		}
	}
	for name, c := range map[string]Chosen{
		"a range that wraps": {Range: hip.Span{Base: 1 << 63, Size: 1<<63 + 1}},
		"a small unit":       {Unit: 2048},
		"a large unit":       {Unit: 2 * MaxUnit},
		"an odd unit":        {Unit: 12288},
	} {
		b, err := wire.AppendMap(nil, &c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseChosen(b); !errors.Is(err, wire.ErrProtocol) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzOffer(f *testing.F) {
	b, err := sampleOffer.Append(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := ParseChosen(b); err != nil && !errors.Is(err, wire.ErrProtocol) {
			t.Fatal(err)
		}
		o, err := ParseOffer(b)
		if err != nil {
			if !errors.Is(err, wire.ErrProtocol) {
				t.Fatal(err)
			}
			return
		}
		if _, err := o.Append(nil); err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
	})
}
