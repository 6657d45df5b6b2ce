package wire

import (
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/rocwire/rocwire/internal/mono"
)

// FeaturePacked lets both sides compress bulk data. Either does so where that is faster, judged by what its transport says of the path and by a sample
// of the data, so it costs nothing to grant.
const FeaturePacked = "zstd"

const (
	maxPacked   = 1 << 20  // bytes of bulk data in one compressed frame
	packSample  = 64 << 10 // of which in a message's first frame
	packLeast   = 16 << 10 // shorter bulk data is not compressed
	packWorth   = 0.9      // of the time that the data would take otherwise
	packPause   = 16 << 20 // bytes that are sent as they are after some that did not shrink
	fastPath    = 250e6    // bytes per second from which on nobody compresses
	lookPause   = int64(20e6)
	packedFront = 4 // u32 length of the data, before it
)

// packer decides on and does the compression of what is sent. It is used by who has the write role.
type packer struct {
	path   func() (rate float64, queued bool) // of the transport
	enc    *zstd.Encoder
	slow   atomic.Bool // the path is one to compress for, as far as is known; for anybody
	rate   float64     // bytes per second of the path, 0 if that was never the bottleneck
	looked int64       // when path was asked, as mono.Now
	pause  int         // bytes until the next try
}

// look asks for the path's rate, which means something only while data waits for it.
func (p *packer) look() {
	now := mono.Now()
	if p.looked != 0 && now-p.looked < lookPause {
		return
	}
	p.looked = now
	if rate, queued := p.path(); queued && rate > 0 {
		p.rate = rate
		p.slow.Store(rate < fastPath)
	}
}

// wants reports whether a message's bulk data is to be tried.
func (p *packer) wants(bulk []byte) bool {
	if len(bulk) < packLeast || p.rate == 0 || p.rate >= fastPath {
		return false
	}
	if p.pause > 0 {
		p.pause -= len(bulk)
		return false
	}
	return true
}

// pack compresses one frame's data, into memory of its own behind front bytes of room; nil if that is not worth its time.
func (p *packer) pack(data []byte, front int) []byte {
	if p.enc == nil {
		var err error
		p.enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithWindowSize(maxPacked))
		if err != nil {
			panic(err) // the options are constants
		}
	}
	begin := mono.Now()
	b := p.enc.EncodeAll(data, make([]byte, front, front+len(data)/2))
	took := float64(mono.Since(begin).Seconds())
	sent, plain := float64(len(b)-front)/p.rate, float64(len(data))/p.rate
	if took+sent > packWorth*plain {
		p.pause = packPause
		return nil
	}
	return b
}

// unpacker does the other half, for who reads.
type unpacker struct {
	dec *zstd.Decoder
	z   []byte // compressed
}

// unpack reads a frame's n compressed bytes and fills dst with what they were.
func (u *unpacker) unpack(in *in, h Header, n int, dst []byte) error {
	if u.dec == nil {
		var err error
		u.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxPacked), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			panic(err)
		}
	}
	if cap(u.z) < n {
		u.z = make([]byte, n)
	}
	z := u.z[:n]
	if err := in.full(z); err != nil {
		return err
	}
	got, err := u.dec.DecodeAll(z, dst[:0:len(dst)])
	switch {
	case err != nil:
		return violation(h, "compressed data: %v", err)
	case len(got) != len(dst):
		return violation(h, "compressed data is %d bytes and not %d", len(got), len(dst))
	}
	return nil
}

// checkPacked judges a compressed frame's announcement: raw bytes of data in n.
func checkPacked(h Header, raw uint32, n int) error {
	if raw == 0 || raw > maxPacked || n <= 0 || n > maxPacked {
		return violation(h, "%d compressed bytes for %d", n, raw)
	}
	return nil
}
