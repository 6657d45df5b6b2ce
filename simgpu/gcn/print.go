package gcn

import "strconv"

// String prints the instruction as LLVM's disassembler does.
func (in *Inst) String() string {
	if in.Info == nil {
		return "<none>"
	}
	return string(in.AppendText(make([]byte, 0, 96)))
}

// AppendText appends what String returns to b.
func (in *Inst) AppendText(b []byte) []byte {
	b = append(b, in.Info.Name...)
	switch in.Form {
	case FormE32:
		b = append(b, "_e32"...)
	case FormE64:
		b = append(b, "_e64"...)
	case FormSDWA:
		b = append(b, "_sdwa"...)
	case FormDPP:
		b = append(b, "_dpp"...)
	}
	sep := " "
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		if oi.Quiet {
			continue
		}
		o := in.place(oi.Role)
		if o == nil || o.Kind == None {
			continue
		}
		b = append(b, sep...)
		sep = ", "
		b = o.appendText(b)
	}
	return b
}

var scalarNames = map[uint16][2]string{
	RegFlatScratch: {"flat_scratch_lo", "flat_scratch"}, RegFlatScratch + 1: {"flat_scratch_hi", ""},
	RegXNACKMask: {"xnack_mask_lo", "xnack_mask"}, RegXNACKMask + 1: {"xnack_mask_hi", ""},
	RegVCC: {"vcc_lo", "vcc"}, RegVCC + 1: {"vcc_hi", ""},
	RegM0:   {"m0", ""},
	RegEXEC: {"exec_lo", "exec"}, RegEXEC + 1: {"exec_hi", ""},
}

var specialNames = map[uint16]string{
	SrcSharedBase: "src_shared_base", SrcSharedLimit: "src_shared_limit",
	SrcPrivateBase: "src_private_base", SrcPrivateLimit: "src_private_limit",
	SrcPopsExitingWave: "src_pops_exiting_wave_id", SrcVCCZ: "src_vccz", SrcEXECZ: "src_execz",
	SrcSCC: "src_scc", SrcLDSDirect: "src_lds_direct",
}

func (o *Operand) appendText(b []byte) []byte {
	switch o.Kind {
	case SGPR:
		return appendScalar(b, o.Index, o.Width)
	case VGPR:
		return appendRange(b, 'v', o.Index, o.Width)
	case AccVGPR:
		return appendRange(b, 'a', o.Index, o.Width)
	case Special:
		return append(b, specialNames[o.Index]...)
	case Off:
		return append(b, "off"...)
	case Inline, Literal:
		return append(append(b, "0x"...), strconv.FormatUint(o.Value, 16)...)
	}
	return append(b, '?')
}

func appendScalar(b []byte, n uint16, width uint8) []byte {
	if n <= 101 {
		return appendRange(b, 's', n, width)
	}
	if n >= RegTTMP0 && n < RegTTMP0+16 {
		return appendRange(append(b, "ttm"...), 'p', n-RegTTMP0, width)
	}
	i := 0
	if width > 1 {
		i = 1
	}
	return append(b, scalarNames[n][i]...)
}

func appendRange(b []byte, file byte, n uint16, width uint8) []byte {
	b = append(b, file)
	if width <= 1 {
		return strconv.AppendUint(b, uint64(n), 10)
	}
	b = append(b, '[')
	b = strconv.AppendUint(b, uint64(n), 10)
	b = append(b, ':')
	b = strconv.AppendUint(b, uint64(n)+uint64(width)-1, 10)
	return append(b, ']')
}
