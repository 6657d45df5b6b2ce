package smiremote

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
)

// maxUnpacked bounds a packed snapshot's true size.
const maxUnpacked = wire.MaxPayload

// window is how far back the compression looks; a decoder keeps as much.
const window = 512 << 10

// The compressor and its opposite are for everybody: they hold memory, no state.
var (
	compressor = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
		if err != nil {
			panic(err) // options that do not exist
		}
		return e
	})
	// One at a time, each far less than a millisecond: two would take turns, and each keep its own memory.
	decompressor = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderLowmem(true), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxUnpacked), zstd.WithDecoderMaxWindow(maxUnpacked))
		if err != nil {
			panic(err) // options that do not exist
		}
		return d
	})
)

// packed is the last snapshot as it went over the wire, for all clients.
type packed struct {
	mu     sync.Mutex
	number uint64 // of the view; 0: nothing yet
	plain  []byte
	small  []byte
}

// snapshot is the encoded snapshot; it must not be changed.
func (h *Handler) snapshot(view *smi.Snapshot, number uint64, pack bool) (b []byte, err error) {
	p := &h.packed
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.number != number {
		p.number, p.plain, p.small = number, nil, nil
	}
	switch {
	case pack && p.small == nil:
		p.small, err = packSnapshot(view)
	case !pack && p.plain == nil:
		p.plain, err = encodeSnapshot(view)
	}
	if pack {
		return p.small, err
	}
	return p.plain, err
}

// encodeSnapshot leaves s as it is.
func encodeSnapshot(s *smi.Snapshot) ([]byte, error) {
	c := *s
	c.Devices = slices.Clone(s.Devices)
	for i := range c.Devices {
		c.Devices[i].Processes = clipped(c.Devices[i].Processes)
	}
	return msgpack.Marshal(&c)
}

// clipped is clip of a copy, if there is anything to do.
func clipped(ps []smi.Process) []smi.Process {
	for i := range ps {
		if len(ps[i].Command) > maxTold || len(ps[i].Name) > maxTold {
			ps = slices.Clone(ps)
			clip(ps)
			break
		}
	}
	return ps
}

// packSnapshot leaves s as it is.
func packSnapshot(s *smi.Snapshot) ([]byte, error) {
	c := *s
	c.Devices = slices.Clone(s.Devices)
	n := 0
	for i := range c.Devices {
		n += len(c.Devices[i].Processes)
	}
	rows := make([]smi.Process, 0, n)
	for i := range c.Devices {
		rows = append(rows, clipped(c.Devices[i].Processes)...)
		c.Devices[i].Processes = nil
	}
	if len(rows) > maxRows {
		return nil, smi.Errorf(smi.ErrInternal, "%d processes are too many for a snapshot", len(rows))
	}
	var b bytes.Buffer
	b.Write(make([]byte, 4))
	if err := msgpack.NewEncoder(&b).Encode(&c); err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint32(b.Bytes(), uint32(b.Len()-4))
	b.Write(encodeTable(rows))
	if b.Len() > maxUnpacked {
		return nil, smi.Errorf(smi.ErrInternal, "the snapshot is %d bytes long", b.Len())
	}
	return compressor().EncodeAll(b.Bytes(), make([]byte, 0, b.Len()/2)), nil
}

func decodePacked(b []byte) (*smi.Snapshot, error) {
	b, err := decompressor().DecodeAll(b, nil)
	if err != nil {
		return nil, bad("packed snapshot: %w", err)
	}
	return decodeUnpacked(b)
}

func decodeUnpacked(b []byte) (*smi.Snapshot, error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, bad("packed snapshot: %w", errTruncated)
	}
	n := 4 + int(binary.LittleEndian.Uint32(b))
	var s smi.Snapshot
	if err := unpack(b[4:n], &s); err != nil {
		return nil, err
	}
	rows, err := decodeTable(b[n:])
	if err != nil {
		return nil, err
	}
	for len(rows) > 0 {
		i := rows[0].Device
		if i < 0 || i >= len(s.Devices) || len(s.Devices[i].Processes) > 0 {
			return nil, bad("processes of card %d of %d, or twice", i, len(s.Devices))
		}
		n := 1
		for n < len(rows) && rows[n].Device == i {
			n++
		}
		s.Devices[i].Processes, rows = rows[:n:n], rows[n:]
	}
	return &s, checkSnapshot(&s)
}
