package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// Data-parallel primitives: source 0 comes from another lane.

// dppSource is the lane that lane reads; ok is false if there is none.
func dppSource(p *gcn.DPP, lane int) (src int, ok bool) {
	if p.Eight {
		return lane&^7 | int(p.Lanes>>(3*(lane&7))&7), true
	}
	ctrl := p.Ctrl
	row, n := lane&^15, lane&15
	k := int(ctrl & 15)
	switch {
	case ctrl < gcn.DPPRowShl:
		return lane&^3 | int(ctrl>>(2*(lane&3)))&3, true
	case ctrl < gcn.DPPRowShr:
		return lane + k, n+k < 16
	case ctrl < gcn.DPPRowRor:
		return lane - k, n >= k
	case ctrl < gcn.DPPWaveShl:
		return row | (n-k)&15, true
	}
	switch ctrl {
	case gcn.DPPWaveShl:
		return lane + 1, lane < 63
	case gcn.DPPWaveRol:
		return (lane + 1) & 63, true
	case gcn.DPPWaveShr:
		return lane - 1, lane > 0
	case gcn.DPPWaveRor:
		return (lane - 1) & 63, true
	case gcn.DPPRowMirror:
		return row | (15 - n), true
	case gcn.DPPRowHalfMirror:
		return lane&^7 | (7 - lane&7), true
	case gcn.DPPBcast15:
		return row - 1, lane > 15
	case gcn.DPPBcast31:
		return 31, lane > 31
	}
	switch {
	case ctrl >= gcn.DPPRowNewBcast && ctrl < gcn.DPPRowNewBcast+16: // row_share of RDNA
		return row | k, true
	case ctrl >= gcn.DPPRowXMask && ctrl < gcn.DPPRowXMask+16:
		return row | n ^ k, true
	}
	return 0, false
}

// dppPrep permutes the lanes of a source. It leaves in w.dpp the lanes that may
// be written: those of the masks, and, unless invalid sources read as 0, those
// with a source.
func dppPrep(p *gcn.DPP, wide bool) prep {
	var from [WaveSize]uint8
	var valid, write uint64
	for i := range from {
		if src, ok := dppSource(p, i); ok {
			from[i] = uint8(src & 63)
			valid |= 1 << i
		}
		if p.RowMask>>(i>>4)&1 != 0 && p.BankMask>>(i>>2&3)&1 != 0 {
			write |= 1 << i
		}
	}
	zero, fetch := p.BoundCtrl || p.Eight, p.FetchInactive
	return func(w *wave, d, s *Vec) *Vec {
		from := &from
		have := uint64(0) // lanes whose source exists and is active
		for i := range d {
			j := from[i] & 63
			m := valid >> i & 1
			if !fetch {
				m &= w.exec >> j
			}
			have |= m << i
			d[i] = s[j] & uint32(-m)
			if wide {
				upper(d)[i] = upper(s)[j] & uint32(-m)
			}
		}
		w.dpp = write
		if !zero {
			w.dpp &= have
		}
		return d
	}
}
