package gcn

// nullRDNA is the number of the null register, which is that of M0 on CDNA.
const nullRDNA = 124

// decodeRDNA decodes what begins with 11, where the encodings are not those of CDNA. SOP1, SOP2, SOPC,
// SOPK, SOPP, VOP1, VOP2 and VOPC are.
func (d *decoder) decodeRDNA() {
	w := d.w[0]
	switch w >> 26 {
	case 0x32:
		if d.in.Arch.WaveSize() == 64 {
			d.err = "two operations in one are for waves of 32 lanes"
			return
		}
		d.vopd()
	case 0x33:
		switch w >> 23 & 7 {
		case 0:
			d.vop3p()
		case 2, 3:
			d.vinterp()
		case 4, 5:
			d.ldsdir()
		default:
			d.err = "unknown encoding"
		}
	case 0x35:
		d.vop3()
	case 0x36:
		d.dsRDNA()
	case 0x37:
		d.flatRDNA()
	case 0x38:
		d.mubufRDNA()
	case 0x3a:
		d.mtbufRDNA()
	case 0x3c:
		d.mimgRDNA()
	case 0x3d:
		d.smemRDNA()
	case 0x3e:
		d.export()
	default:
		d.err = "unknown encoding"
	}
}

// cacheRDNA sets the cache policy bits.
func (in *Inst) cacheRDNA(glc, slc, dlc uint32) {
	in.cache(glc, slc, 0)
	if dlc&1 != 0 {
		in.Cache |= DLC
	}
}
