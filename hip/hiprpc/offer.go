package hiprpc

import (
	"fmt"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// Offer is what a HIP client adds to its Hello (wire.Hello.Details): a MessagePack map, all of it claims that the worker checks.
type Offer struct {
	Ranges      []hip.Span `msgpack:"ranges,omitempty"`       // device address ranges that the client could reserve, best first
	Devices     string     `msgpack:"devices,omitempty"`      // the client's HIP_VISIBLE_DEVICES, for the worker to apply
	ROCrDevices string     `msgpack:"rocr_devices,omitempty"` // and its ROCR_VISIBLE_DEVICES, which goes before
	Part        uint32     `msgpack:"part,omitempty"`         // of Parts sessions that share a range of addresses, which this one is
	Parts       uint32     `msgpack:"parts,omitempty"`        // 0: the session has its range for itself
}

// Chosen is what the worker adds to its Welcome (wire.Welcome.Details).
type Chosen struct {
	Range hip.Span `msgpack:"range"`           // of those offered, or a part of one; zero: none
	Unit  uint64   `msgpack:"unit,omitempty"`  // in which memory is placed there, a power of two of at most MaxUnit; 0: in pages
	Known []Answer `msgpack:"known,omitempty"` // so that the client need not ask
}

// Limits of an Offer.
const (
	// MaxParts is how many sessions may share a range.
	MaxParts = 64
	// MaxVisible is the longest list of visible devices, in bytes.
	MaxVisible = 4096
	// MaxUnit is the largest unit in which a session has its client place memory.
	MaxUnit   = 2 << 20
	maxRanges = 64
)

// Append adds the offer's encoding to b.
func (o *Offer) Append(b []byte) ([]byte, error) {
	if err := o.check(); err != nil {
		return b, err
	}
	return wire.AppendMap(b, o)
}

// ParseOffer reads and checks a Hello's details; none is an empty offer. Its error is wire.ErrProtocol.
func ParseOffer(b []byte) (*Offer, error) {
	o := new(Offer)
	if len(b) == 0 {
		return o, nil
	}
	if err := wire.ParseMap(b, o); err != nil {
		return nil, err
	}
	return o, o.check()
}

func (o *Offer) check() error {
	if len(o.Ranges) > maxRanges {
		return fmt.Errorf("%w: %d ranges offered", wire.ErrProtocol, len(o.Ranges))
	}
	for _, r := range o.Ranges {
		if err := checkRange(r); err != nil {
			return err
		}
	}
	if len(o.Devices) > MaxVisible || len(o.ROCrDevices) > MaxVisible {
		return fmt.Errorf("%w: a list of devices of %d bytes", wire.ErrProtocol, max(len(o.Devices), len(o.ROCrDevices)))
	}
	if o.Parts > MaxParts || o.Part != 0 && o.Part >= o.Parts {
		return fmt.Errorf("%w: part %d of %d", wire.ErrProtocol, o.Part, o.Parts)
	}
	return nil
}

func checkRange(r hip.Span) error {
	if r.Base+r.Size < r.Base {
		return fmt.Errorf("%w: range %#x+%#x wraps", wire.ErrProtocol, r.Base, r.Size)
	}
	return nil
}

// Append adds the encoding to b.
func (c *Chosen) Append(b []byte) ([]byte, error) { return wire.AppendMap(b, c) }

// ParseChosen reads and checks a Welcome's details; none is no range. Its error is wire.ErrProtocol.
func ParseChosen(b []byte) (Chosen, error) {
	var c Chosen
	if len(b) == 0 {
		return c, nil
	}
	if err := wire.ParseMap(b, &c); err != nil {
		return Chosen{}, err
	}
	if c.Unit != 0 && (c.Unit < hip.Granule || c.Unit > MaxUnit || c.Unit&(c.Unit-1) != 0) {
		return Chosen{}, fmt.Errorf("%w: memory in units of %d bytes", wire.ErrProtocol, c.Unit)
	}
	if err := checkKnown(c.Known); err != nil {
		return Chosen{}, err
	}
	return c, checkRange(c.Range)
}
