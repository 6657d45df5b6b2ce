package gcn

import "math/bits"

// What the addresses of an image instruction are beside the coordinates, as its row in ops.tsv has it
// where VOP3 has its modifier bits.
const (
	imageExtra     = 3      // how many of bias, comparison and offset there are
	imageLOD       = 1 << 2 // level of detail, or a bound for it
	imageCoords    = 1 << 3
	imageGradients = 1 << 4
	imageHalfGrads = 1 << 5 // gradients of 16 bits
	imageGather    = 1 << 6 // always four components
	imageRay       = 1 << 7 // the intersection of a ray with a box: addresses of its own
	imageRay64     = 1 << 8 // the node's address has 64 bits
)

// imageDims are the coordinates and gradients that each dimension has.
var imageDims = [8]struct {
	name             string
	coords, gradient int
}{
	{"1D", 1, 2}, {"2D", 2, 4}, {"3D", 3, 6}, {"CUBE", 3, 4}, {"1D_ARRAY", 2, 2}, {"2D_ARRAY", 3, 4}, {"2D_MSAA", 3, 4},
	{"2D_MSAA_ARRAY", 4, 4},
}

// mimgRDNA: 111100 op:8 d16 a16 r128 glc dlc slc dmask:4 unorm 00 dim:3 0 nsa, ssamp:5 000 lwe tfe srsrc:5 vdata:8 vaddr:8
// and, with nsa, the registers of the other addresses: vaddr4:8 vaddr3:8 vaddr2:8 vaddr1:8
func (d *decoder) mimgRDNA() {
	w, h := d.w[0], d.w[1]
	if !d.row(MIMG, w>>18&0xff, 2+int(w&1)) {
		return
	}
	in := d.in
	in.cacheRDNA(w>>14, w>>12, w>>13)
	in.DMask, in.Dim = uint8(w>>8&15), uint8(w>>2&7)
	in.TFE = h>>21&1 != 0
	for _, f := range [...]struct {
		set uint32
		bit ImageBits
	}{{w, NSA}, {w >> 7, Unorm}, {w >> 15, R128}, {w >> 16, A16}, {w >> 17, D16}, {h >> 22, LWE}} {
		if f.set&1 != 0 {
			in.Image |= f.bit
		}
	}
	data, addrs := in.imageSizes()
	if in.Info.Mods&imageRay != 0 {
		data, addrs = 4, in.rayAddresses()
		if w&rayBits != rayBits || in.Image&(NSA|A16) == NSA|A16 && d.w[2]>>24 != 0 {
			d.err = "bits of an intersection are not set"
		}
	}
	if h>>8&0xff+uint32(data) > 256 || !d.imageAddress(addrs) {
		data, addrs = in.imageLeast() // LLVM then takes it for one of these sizes
		if !d.imageAddress(addrs) {
			d.err = "vector registers beyond the last"
		}
	}
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		o := in.place(oi.Role)
		switch oi.Role {
		case RoleDst, RoleData:
			d.vgprs(o, I32, h>>8&0xff, data)
		case RoleBase:
			d.sreg(o, oi.Type, h>>16&0x1f<<2)
		case RoleSOffset:
			d.sreg(o, oi.Type, h>>26&0x1f<<2)
		}
	}
	if in.Info.Flags&IsAtomic != 0 && in.Cache&GLC != 0 {
		in.Dst = in.Data
	}
}

// vgprs fills in n vector registers.
func (d *decoder) vgprs(o *Operand, t Type, index uint32, n int) {
	o.Kind, o.Type, o.Width, o.Index = VGPR, t, uint8(n), uint16(index)
	if int(index)+n > 256 {
		d.err = "vector registers beyond the last"
	}
}

// rayBits are always set in an intersection: all components, unorm, a descriptor of 128 bits.
const rayBits = 15<<8 | 1<<7 | 1<<15

// imageSizes are how many registers components and addresses take. If there is no instruction of that size, it is
// what LLVM makes of it.
func (in *Inst) imageSizes() (data, addrs int) {
	data, addrs = in.imageComponents(), in.imageAddresses()
	if in.imageDataSize(data) && in.imageAddressSize(addrs) {
		return data, addrs
	}
	return in.imageLeast()
}

// imageDataSize reports whether there is an instruction with that many registers of data.
func (in *Inst) imageDataSize(n int) bool {
	switch {
	case in.Info.Flags&IsCmpSwap != 0:
		return n >= 2
	case in.Info.Flags&IsAtomic != 0:
		return n <= 3
	case in.Info.Mods&imageGather != 0:
		return n != 1 && (n != 3 || len(in.Info.Operands) < 4)
	}
	return true
}

// imageAddressSize reports whether there is an instruction with that many registers of addresses.
func (in *Inst) imageAddressSize(n int) bool {
	least, most := in.imageAddressRange()
	if in.Image&NSA != 0 {
		return n >= max(least, 2) && n <= most
	}
	if n == 4 && most == 3 || n == 8 && most >= 5 { // groups of a power of two are there for older targets
		return true
	}
	return n >= least && n <= most
}

// imageAddressRange are the numbers of registers that the addresses of the operation can take.
func (in *Inst) imageAddressRange() (least, most int) {
	m := in.Info.Mods
	if len(in.Info.Operands) < 4 { // without a sampler
		if m&imageCoords == 0 {
			return 1, 1
		}
		return 1, 4
	}
	least, most = 1, 3
	if m&imageGradients != 0 {
		least, most = 2, 9
		if m&imageHalfGrads != 0 {
			most = 7
		}
	}
	if m&imageLOD != 0 {
		most++
	}
	return least + int(m&imageExtra), most + int(m&imageExtra)
}

// imageLeast are the sizes that LLVM assumes if there is no instruction of the right ones.
func (in *Inst) imageLeast() (data, addrs int) {
	data = 1
	switch {
	case in.Info.Mods&imageGather != 0 && len(in.Info.Operands) < 4:
		data = 4
	case in.Info.Flags&IsCmpSwap != 0 || in.Info.Mods&imageGather != 0:
		data = 2
	}
	least, most := in.imageAddressRange()
	switch {
	case in.Image&NSA == 0:
		return data, least
	case len(in.Info.Operands) < 4:
		return data, 4
	}
	return data, min(most, 5)
}

// imageComponents is how many registers the components take.
func (in *Inst) imageComponents() int {
	n := max(bits.OnesCount8(in.DMask), 1)
	if in.Info.Mods&imageGather != 0 {
		n = 4
	}
	if in.Image&D16 != 0 {
		n = (n + 1) / 2
	}
	if in.TFE {
		n++
	}
	return n
}

// imageAddress fills in n addresses: a group of registers, or one that the second word names and up to four of the third
// word, of which the last is a group if there are more. It reports whether there are such registers.
func (d *decoder) imageAddress(n int) bool {
	in, first := d.in, d.w[1]&0xff
	in.Addresses = uint8(n)
	if in.Image&NSA == 0 {
		if n > 12 {
			n = 16
		}
		in.Addr = Operand{Kind: VGPR, Type: I32, Width: uint8(n), Index: uint16(first)}
		return int(first)+n <= 256
	}
	in.Addr = Operand{Kind: VGPR, Type: I32, Width: in.addressWidth(0), Index: uint16(first)}
	ok := int(first)+int(in.Addr.Width) <= 256
	for i := range in.AddrRest {
		in.AddrRest[i] = uint8(d.w[2] >> (8 * i))
		ok = ok && int(in.AddrRest[i])+int(in.addressWidth(i+1)) <= 256
	}
	return ok
}

// addressWidth is how many registers address i is, with NSA; 0 if there is none.
func (in *Inst) addressWidth(i int) uint8 {
	last := len(in.AddrRest)
	if m := in.Info.Mods; m&imageRay != 0 {
		switch {
		case i == 0 && m&imageRay64 != 0:
			return 2
		case i <= 1:
			return 1
		case i == last && in.Image&A16 != 0:
			return 0
		}
		return 3
	}
	switch n := int(in.Addresses); {
	case i >= n:
		return 0
	case i == last:
		return uint8(n - i)
	}
	return 1
}

// rayAddresses is how many registers the addresses of an intersection take: node, extent, origin, direction and its
// inverse, which with 16 bits share theirs.
func (in *Inst) rayAddresses() int {
	n := 11
	if in.Info.Mods&imageRay64 != 0 {
		n++
	}
	if in.Image&A16 != 0 {
		n -= 3
	}
	return n
}

// imageAddresses is how many registers the addresses take.
func (in *Inst) imageAddresses() int {
	m, dim := in.Info.Mods, imageDims[in.Dim]
	n := 0
	if m&imageCoords != 0 {
		n = dim.coords
	}
	if m&imageLOD != 0 {
		n++
	}
	if in.Image&A16 != 0 {
		n = (n + 1) / 2
	}
	if m&imageGradients != 0 {
		g := dim.gradient
		if m&imageHalfGrads != 0 {
			g = (g/2 + 1) &^ 1
		}
		n += g
	}
	return n + int(m&imageExtra)
}

// ImageCoordinates is where an instruction of RDNA, but for an intersection, has its coordinates and behind them a level of detail: n of them, from an address on,
// each of which has one or, with A16, two.
func (in *Inst) ImageCoordinates() (first, n int) {
	if in.Info.Mods&imageCoords != 0 {
		n = imageDims[in.Dim].coords
	}
	if in.Info.Mods&imageLOD != 0 {
		n++
	}
	regs := n
	if in.Image&A16 != 0 {
		regs = (n + 1) / 2
	}
	return in.imageAddresses() - regs, n
}

// ImageAddress is the vector register with an address of an instruction of RDNA, of which there are in.Addresses.
func (in *Inst) ImageAddress(i int) int {
	last := len(in.AddrRest)
	switch {
	case in.Image&NSA == 0 || i == 0:
		return int(in.Addr.Index) + i
	case i <= last:
		return int(in.AddrRest[i-1])
	}
	return int(in.AddrRest[last-1]) + i - last
}

// appendImageAddress writes addresses that are not one group.
func (in *Inst) appendImageAddress(b []byte) []byte {
	b = appendRange(append(b, '['), 'v', in.Addr.Index, in.Addr.Width)
	for i, n := range in.AddrRest {
		if w := in.addressWidth(i + 1); w > 0 {
			b = appendRange(append(b, ", "...), 'v', uint16(n), w)
		}
	}
	return append(b, ']')
}

// appendImageModsRDNA writes what follows the operands.
func (in *Inst) appendImageModsRDNA(b []byte) []byte {
	if in.Info.Mods&imageRay != 0 {
		if in.Image&A16 != 0 {
			b = append(b, " a16"...)
		}
		return b
	}
	if in.DMask != 0 {
		b = appendHex(append(b, " dmask:"...), uint64(in.DMask))
	}
	b = append(append(b, " dim:SQ_RSRC_IMG_"...), imageDims[in.Dim].name...)
	put := func(set bool, name string) {
		if set {
			b = append(b, name...)
		}
	}
	put(in.Image&Unorm != 0, " unorm")
	b = in.appendCache(b)
	put(in.Image&R128 != 0, " r128")
	put(in.Image&A16 != 0, " a16")
	put(in.TFE, " tfe")
	put(in.Image&LWE != 0, " lwe")
	put(in.Image&D16 != 0, " d16")
	return b
}
