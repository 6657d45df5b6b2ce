package wire

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/rocwire/rocwire/internal/tlsrecord"
)

// FeatureIntegrity: behind the Welcome all bytes, both ways, are in records with a CRC32-C, which notices what was changed by accident on the way. TLS
// does that and more. It is tlsrecord.Checksum's form; the sums of each direction start from those of both handshake frames, so that one that was changed
// is noticed with the first record.
const FeatureIntegrity = "integrity"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameSum is the CRC32-C of a frame.
func frameSum(h Header, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum(h.Append(nil), castagnoli), castagnoli, payload)
}

// integrity is the state of a connection with checksums right behind a handshake whose frames have these sums.
func integrity(hello, welcome uint32, client bool) *tlsrecord.State {
	start := func(direction byte) []byte {
		b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, hello), welcome)
		return binary.LittleEndian.AppendUint32(nil, crc32.Checksum(append(b, direction), castagnoli))
	}
	s := &tlsrecord.State{Suite: tlsrecord.Checksum, Client: client, In: start(1), Out: start(0)}
	if client {
		s.In, s.Out = s.Out, s.In
	}
	return s
}

// checkable is a transport that can go on with checksums, in its place, as long as nothing has been read from it.
type checkable interface {
	checked(*tlsrecord.State) (transport, error)
}

// agree completes a client's transport by what the Welcome grants.
func (o *Options) agree(t transport, w *Welcome) (transport, error) {
	if !slices.Contains(o.Hello.Features, FeatureIntegrity) {
		return t, nil
	}
	c, can := t.(checkable)
	if !w.HasFeature(FeatureIntegrity) || !can {
		t.close()
		return nil, fmt.Errorf("checksums (%s) were asked for, and there are none on this connection", FeatureIntegrity)
	}
	return c.checked(integrity(w.sums[0], w.sums[1], true))
}

// checkedAs has t go on with checksums. With an error t is as it was.
func checkedAs(t transport, st *tlsrecord.State) (transport, error) {
	c, can := t.(checkable)
	if !can {
		return t, fmt.Errorf("there are no checksums (%s) on this connection", FeatureIntegrity)
	}
	checked, err := c.checked(st)
	if err != nil {
		return t, err
	}
	return checked, nil
}

// granted takes integrity off a Welcome's features where there is none to be had.
func (s *ServerConn) granted(w *Welcome) (is bool) {
	if !w.HasFeature(FeatureIntegrity) {
		return false
	}
	if _, can := s.t.(checkable); !can {
		w.Features = slices.DeleteFunc(slices.Clone(w.Features), func(f string) bool { return f == FeatureIntegrity })
		return false
	}
	return true
}

// checkSums goes on with checksums behind a Welcome of that sum.
func (s *ServerConn) checkSums(welcome uint32) error {
	t, err := s.t.(checkable).checked(integrity(s.opt.HelloSum, welcome, false))
	if err != nil {
		return err
	}
	s.t, s.in.t, s.out.t, s.k.t = t, t, t, t
	s.checks = true
	return nil
}
