package smi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vmihailenco/msgpack/v5"
)

// Device says which card this is.
type Device struct {
	Index  int      `json:"index" msgpack:"i"`
	BDF    Opt[BDF] `json:"bdf" msgpack:"b,omitempty"`              // PCI address
	UUID   string   `json:"uuid,omitempty" msgpack:"u,omitempty"`   // unique among all cards of the world
	Name   string   `json:"name" msgpack:"n"`                       // market name; a simulated card's says "(simulated)"
	Target string   `json:"target,omitempty" msgpack:"t,omitempty"` // instruction set, e.g. "gfx942"
}

// BDF is a PCI address.
type BDF struct {
	Domain   uint32
	Bus      uint8
	Device   uint8 // 0 … 31
	Function uint8 // 0 … 7
}

// ParseBDF reads "0000:c1:00.0" or "c1:00.0".
func ParseBDF(s string) (BDF, error) {
	bad := Errorf(ErrInvalid, "%q is not a PCI address like 0000:c1:00.0", s)
	parts := strings.Split(s, ":")
	if len(parts) == 2 {
		parts = append([]string{"0000"}, parts...)
	}
	if len(parts) != 3 || len(parts[0]) < 4 || len(parts[1]) != 2 {
		return BDF{}, bad
	}
	dev, fun, ok := strings.Cut(parts[2], ".")
	if !ok || len(dev) != 2 || len(fun) != 1 {
		return BDF{}, bad
	}
	dom, err1 := strconv.ParseUint(parts[0], 16, 32)
	bus, err2 := strconv.ParseUint(parts[1], 16, 8)
	d, err3 := strconv.ParseUint(dev, 16, 5)
	f, err4 := strconv.ParseUint(fun, 16, 3)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		return BDF{}, bad
	}
	return BDF{Domain: uint32(dom), Bus: uint8(bus), Device: uint8(d), Function: uint8(f)}, nil
}

// String is the usual form, "0000:c1:00.0".
func (b BDF) String() string {
	return fmt.Sprintf("%04x:%02x:%02x.%d", b.Domain, b.Bus, b.Device, b.Function)
}

// MarshalText is String.
func (b BDF) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText is ParseBDF.
func (b *BDF) UnmarshalText(t []byte) (err error) {
	*b, err = ParseBDF(string(t))
	return err
}

// EncodeMsgpack is String.
func (b BDF) EncodeMsgpack(e *msgpack.Encoder) error { return e.EncodeString(b.String()) }

// DecodeMsgpack is ParseBDF.
func (b *BDF) DecodeMsgpack(d *msgpack.Decoder) error {
	s, err := d.DecodeString()
	if err != nil {
		return err
	}
	*b, err = ParseBDF(s)
	return err
}
