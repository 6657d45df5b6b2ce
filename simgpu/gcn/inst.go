package gcn

// Encoding is one of the instruction formats: where fields lie in the words.
type Encoding uint8

// The encodings. FLAT, GLOBAL and SCRATCH are the three segments of one format;
// MFMA is the part of VOP3P whose modifiers are cbsz, abid and blgp.
const (
	EncNone Encoding = iota
	SOP1
	SOP2
	SOPC
	SOPK
	SOPP
	SMEM
	VOP1
	VOP2
	VOPC
	VOP3  // three sources, VOP3A and VOP3B (with a scalar destination)
	VOP3P // packed
	MFMA  // matrix instructions of VOP3P
	DS
	FLAT
	GLOBAL
	SCRATCH
	MUBUF
	MTBUF
	MIMG // images; gfx90a and RDNA
	VOPD // two operations at once; RDNA, as are those that follow
	VINTERP
	LDSDIR
	EXPORT

	numEnc = int(iota)
)

var encNames = [numEnc]string{"none", "SOP1", "SOP2", "SOPC", "SOPK", "SOPP", "SMEM", "VOP1", "VOP2", "VOPC",
	"VOP3", "VOP3P", "MFMA", "DS", "FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MTBUF", "MIMG", "VOPD", "VINTERP", "LDSDIR", "EXP"}

// String is the format's name in AMD's manuals.
func (e Encoding) String() string {
	if int(e) < numEnc {
		return encNames[e]
	}
	return "Encoding(?)"
}

// Form is the way a vector operation is encoded. It is what the mnemonic's
// suffix says.
type Form uint8

// The forms.
const (
	FormNone Form = iota // operations that have one form only, and all that is not VOP1, VOP2, VOPC
	FormE32              // VOP1, VOP2, VOPC
	FormE64              // the same operation in VOP3
	FormSDWA             // 8 or 16 bits of a source or destination
	FormDPP              // source 0 comes from other lanes
)

// OperandKind says what an [Operand] is.
type OperandKind uint8

// The kinds of operands.
const (
	None    OperandKind = iota // the instruction has no such operand
	SGPR                       // Index is the scalar source number 0..127: SGPRs, and the registers named below (RegVCC, RegEXEC, RegM0, ...) at their architectural numbers
	VGPR                       // Index is the vector register 0..255
	AccVGPR                    // Index is the accumulation register 0..255
	Inline                     // inline constant: Value holds its bits for the operand's type (64-bit types: 64 bits)
	Literal                    // 32-bit literal: Value holds it widened for the operand's type (f64: in the high half; 64-bit integers: zero extended)
	Special                    // Index is one of the Src… numbers: null, VCCZ, EXECZ, SCC, apertures, LDS_DIRECT
	Off                        // "off": no address register
	Bad                        // a register or constant that this operand cannot be; Index is its source number. Executing it is an error
)

// Numbers of scalar registers as [Operand.Index] of kind SGPR.
const (
	RegFlatScratch = 102 // and 103
	RegXNACKMask   = 104 // and 105
	RegVCC         = 106 // and 107
	RegTTMP0       = 108 // to 123
	RegM0          = 124
	RegEXEC        = 126 // and 127
)

// Numbers of special scalar sources as [Operand.Index] of kind Special.
const (
	SrcNull            = 125 // reads zero; what is written is lost
	SrcSharedBase      = 235
	SrcSharedLimit     = 236
	SrcPrivateBase     = 237
	SrcPrivateLimit    = 238
	SrcPopsExitingWave = 239
	SrcVCCZ            = 251
	SrcEXECZ           = 252
	SrcSCC             = 253
	SrcLDSDirect       = 254
)

// Operand is one register, register range or constant of an instruction.
type Operand struct {
	Kind  OperandKind
	Type  Type   // how the operation reads it; says how constants print
	Width uint8  // size in dwords; 16-bit operands have 1
	Index uint16 // number of the first register, or which special source
	Value uint64 // bits of a constant
}

// IsConst reports whether the operand is a constant, so Value holds its bits.
func (o *Operand) IsConst() bool { return o.Kind == Inline || o.Kind == Literal }

// SDWA is the sub-dword addressing of an instruction of [FormSDWA].
type SDWA struct {
	DstSel    Sel
	DstUnused Unused
	Src0Sel   Sel
	Src1Sel   Sel
	Sext      uint8 // bit i: sign-extend source i (can be set in VOP3 and DPP forms too)
}

// Sel selects a part of a dword.
type Sel uint8

// The parts of a dword.
const (
	Byte0 Sel = iota
	Byte1
	Byte2
	Byte3
	Word0
	Word1
	Dword
)

// Unused says what becomes of the destination bits that DstSel does not name.
type Unused uint8

// What becomes of unused destination bits.
const (
	UnusedPad      Unused = iota // zero
	UnusedSext                   // sign of the result
	UnusedPreserve               // kept
)

// DPP is the data-parallel-primitive part of an instruction of [FormDPP].
type DPP struct {
	Ctrl          DPPCtrl
	RowMask       uint8 // bit i: lanes of row i (16 lanes) are written
	BankMask      uint8 // bit i: lanes of bank i of each row are written
	FetchInactive bool  // RDNA: lanes that are off are read, too
	Eight         bool  // RDNA: lane i of each eight reads lane Lanes[3i+2:3i] of them; Ctrl means nothing
	Lanes         uint32
	BoundCtrl     bool // an invalid source lane reads 0; otherwise the lane is not written
}

// DPPCtrl is the 9-bit lane permutation of DPP.
type DPPCtrl uint16

// Lane permutations. Those with a number hold it in the low bits.
const (
	DPPQuadPerm      DPPCtrl = 0x000 // | perm, 2 bits for each of 4 lanes
	DPPRowShl        DPPCtrl = 0x100 // | 1..15
	DPPRowShr        DPPCtrl = 0x110 // | 1..15
	DPPRowRor        DPPCtrl = 0x120 // | 1..15
	DPPWaveShl       DPPCtrl = 0x130
	DPPWaveRol       DPPCtrl = 0x134
	DPPWaveShr       DPPCtrl = 0x138
	DPPWaveRor       DPPCtrl = 0x13c
	DPPRowMirror     DPPCtrl = 0x140
	DPPRowHalfMirror DPPCtrl = 0x141
	DPPBcast15       DPPCtrl = 0x142
	DPPBcast31       DPPCtrl = 0x143
	DPPRowNewBcast   DPPCtrl = 0x150 // | 0..15; row_share of RDNA
	DPPRowXMask      DPPCtrl = 0x160 // | 0..15; RDNA
)

// Inst is a decoded instruction. Operands an instruction does not have are of
// kind [None]. Registers that an operation uses without saying so in its
// encoding (VCC of v_addc_co_u32_e32, the accumulator of v_fmac_f32) are filled
// in, so that all forms of an operation look the same to its reader.
type Inst struct {
	Info   *OpInfo
	Op     Op
	Arch   Arch
	Enc    Encoding
	Form   Form
	Len    uint8     // bytes: 4, 8, 12 or 16
	Opcode uint16    // number within the encoding
	Words  [4]uint32 // the instruction itself, Len/4 words
	PC     uint64    // where it stands, as given to Decode (an offset)

	// Arithmetic.
	Dst   Operand    // destination; for SALU the scalar, for VOPC and v_cmp the lane mask; for loads and returning atomics the loaded value
	SDst  Operand    // second destination: carry-out, scale flag
	Src   [3]Operand // sources in architectural order; fmac and dot…c: Src[2] = Dst; madmk: Src[1] = K; addc, cndmask: Src[2] = the lane mask
	Scale [2]Operand // of A and B in scaled matrix instructions; OpSel and OpSelHi say which byte
	// Memory.
	Addr    Operand // vector address: VGPRs, Off, or None
	Data    Operand // what a store writes, an atomic combines
	Data1   Operand // second data of DS
	Base    Operand // scalar base: saddr (SGPR pair or Off), V# of buffers, sbase of SMEM
	SOffset Operand // scalar offset of buffers and SMEM; MIMG: the sampler

	Offset  int32 // byte offset: SMEM 21 bits signed, flat 13 bits signed (FLAT segment: 12 unsigned), buffers 12 unsigned, DS 16 unsigned (2-address forms: see Offset0)
	Offset0 uint8 // DS instructions with two addresses, in elements
	Offset1 uint8
	Simm16  uint16 // SOPK, SOPP; v_bitop3: the truth table; LDSDIR: attribute times 4, channel; EXPORT: the target
	HasSImm bool   // SMEM: Offset is encoded
	Neg     uint8  // bit i: source i negated (packed: low half)
	Abs     uint8  // bit i: absolute value of source i
	NegHi   uint8  // packed: high half negated
	OpSel   uint8  // bit i: source i high half (packed: for the low result); bit 3: destination high half; v_permlane_swap, v_permlane16: FI, BOUND_CTRL
	OpSelHi uint8  // packed: bit i: source i high half, for the high result
	Omod    uint8  // 0 none, 1 times 2, 2 times 4, 3 divided by 2
	Clamp   bool
	CBSZ    uint8 // MFMA broadcast size; with [Formats], of A
	ABID    uint8 // MFMA broadcast block
	BLGP    uint8 // MFMA lane permutation of B; f64: negate bits; with [Formats], of B
	SDWA    SDWA
	DPP     DPP
	Cache   CacheBits
	OffEn   bool  // buffers: a VGPR offset is added
	IdxEn   bool  // buffers: a VGPR index is added
	LDS     bool  // data goes to LDS
	GDS     bool  // DS: global data share
	Format  uint8 // MTBUF: dfmt | nfmt<<4
	DMask   uint8 // MIMG: components; EXPORT: the sources that are exported
	Image   ImageBits
	Dim     uint8 // MIMG of RDNA: 1D, 2D, 3D, cube, 1D array, 2D array, and 2D, 2D array with samples
	// With [NSA], Addresses is how many registers addresses take: that of Addr, and those of AddrRest,
	// of which the last is the first of as many as are left.
	Addresses uint8
	AddrRest  [4]uint8
	TFE       bool  // MUBUF, MTBUF, MIMG of RDNA: a load writes another register, the last, that says whether it failed
	Wait      uint8 // VINTERP, LDSDIR: how many exports, or vector operations, may still be under way
	Done      bool  // EXPORT: the last one
	Row       bool  // EXPORT: M0 says which row
	Dual      *Inst // VOPD: the second operation. Both read their sources before either writes
}

// CacheBits are the cache policy bits of memory instructions, under the names
// of the target that uses them.
type CacheBits uint8

// Cache policy bits.
const (
	GLC CacheBits = 1 << iota // gfx90a: globally coherent; atomics: return the old value
	SLC                       // gfx90a: system coherent, streaming
	SCC                       // gfx90a: system coherence of gfx90a
	NV                        // non-volatile (SMEM)
	DLC                       // RDNA: device level coherent

	SC0 = GLC // gfx942 names
	NT  = SLC
	SC1 = SCC
)

// Target is where a branch goes: PC + 4 + 4*Simm16. It means something for
// operations with [IsBranch].
func (in *Inst) Target() uint64 {
	return in.PC + 4 + uint64(int64(int16(in.Simm16))*4)
}

// ImageBits are the modifiers of MIMG.
type ImageBits uint8

// Modifiers of MIMG.
const (
	Unorm ImageBits = 1 << iota // coordinates are not normalized
	A16                         // 16-bit addresses
	LWE                         // LOD warning enable
	DA                          // array
	D16                         // 16-bit data
	R128                        // RDNA: the descriptor has 128 bits, whatever the width of Base
	NSA                         // RDNA: addresses are registers that need not follow each other
)

// Returns reports whether an atomic gives back the old value.
func (in *Inst) Returns() bool { return in.Dst.Kind != None }
