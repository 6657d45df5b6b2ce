package gcn

// Type is the type in which an operation reads or writes an operand.
type Type uint8

// The operand types. The X types are plain groups of dwords.
const (
	TypeNone Type = iota
	I16
	F16
	V2I16 // two in one dword
	V2F16
	BF16
	V2BF16
	I32 // also all plain 32-bit values
	F32
	V2I32 // two in a register pair
	V2F32
	I64
	F64
	X3
	X4
	X5
	X6
	X8
	X12
	X16
	X32
	F64X4 // four doubles
	Mask  // a bit per lane, SGPR pair

	numTypes = int(iota)
)

var typeWidths = [numTypes]uint8{0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 4, 5, 6, 8, 12, 16, 32, 8, 2}

var typeNames = [numTypes]string{"none", "i16", "f16", "v2i16", "v2f16", "bf16", "v2bf16", "i32", "f32", "v2i32", "v2f32",
	"i64", "f64", "x3", "x4", "x5", "x6", "x8", "x12", "x16", "x32", "f64x4", "mask"}

// Width is the type's size in dwords; 16-bit types have 1.
func (t Type) Width() uint8 {
	if int(t) < numTypes {
		return typeWidths[t]
	}
	return 0
}

// String is the type's name in ops.tsv.
func (t Type) String() string {
	if int(t) < numTypes {
		return typeNames[t]
	}
	return "Type(?)"
}

// Role is the place an operand has in [Inst].
type Role uint8

// The roles; each is a field of [Inst].
const (
	RoleNone Role = iota
	RoleDst
	RoleSDst
	RoleSrc0
	RoleSrc1
	RoleSrc2
	RoleAddr
	RoleData
	RoleData1
	RoleBase
	RoleSOffset
	RoleScale0 // scale of A and B of a matrix instruction
	RoleScale1
	RoleImm // an immediate that the encoding holds elsewhere
)

// Class is the set of registers and constants an operand may be.
type Class uint8

// The operand classes.
const (
	ClassNone Class = iota
	ClassV          // VGPR
	ClassA          // AccVGPR
	ClassVA         // VGPR or AccVGPR, by a bit of the encoding
	ClassVC         // VGPR, AccVGPR or constant, no SGPR
	ClassVS         // any source: VGPR, SGPR, constant
	ClassVSNL       // as VS, no literal
	ClassS          // SGPR as a destination or pair
	ClassSS         // scalar source: SGPR or constant
	ClassVCC        // VCC, not encoded
	ClassTied       // the same register as the destination, not encoded
	ClassK          // the literal word of madmk, madak
)

// OperandInfo describes one operand of an operation.
type OperandInfo struct {
	Role  Role
	Class Class
	Type  Type
	Quiet bool // used, but not written in assembler text
}

// Flags says what an operation does beside its operands.
type Flags uint32

// Operation flags. Registers named here are used implicitly, without an operand.
const (
	ReadsVCC Flags = 1 << iota
	WritesVCC
	ReadsSCC
	WritesSCC
	ReadsEXEC // as data, not merely as the lane mask
	WritesEXEC
	IsBranch   // goes to PC + 4 + 4*Simm16, possibly
	IsTerm     // never goes on to the next instruction
	IsLoad     // reads memory
	IsStore    // writes memory
	IsAtomic   // does both
	NoSuffix   // printed without _e32
	ReturnsGLC // atomic that returns the old value when GLC is set
	TwoAddr    // DS with offset0 and offset1
	AllLanes   // ignores EXEC (v_readlane, v_readfirstlane with empty EXEC, MFMA)
	LDSDest    // always moves data between memory and LDS
	NoDstSel   // SDWA form whose destination is always the whole dword
	IsCmpSwap  // atomic whose data is a pair: new value, compared value
	IsGWS      // global wave sync
	MixMods    // VOP3P whose high negate bits are absolute-value bits
	Formats    // matrix instruction whose cbsz and blgp are the formats of A and B
	NoOpSel    // VOP3P that has no op_sel
	HasE64     // VOP3 row of an operation that VOP1, VOP2 or VOPC have too
)

// Op is an operation: a mnemonic without encoding suffix, e.g. [V_ADD_U32].
type Op uint16

// String is the mnemonic in lower case.
func (op Op) String() string {
	if int(op) < NumOps {
		return opNames[op]
	}
	return "Op(?)"
}

// OpInfo is one row of the table: an operation in one encoding.
type OpInfo struct {
	Name     string // mnemonic without encoding suffix
	Op       Op
	Enc      Encoding
	Opcode   [numArch]int16 // per target; -1: it has none
	Operands []OperandInfo  // in assembler order
	Flags    Flags
	Zero     [numArch]uint64 // per target: bits of the instruction that must be zero
	Mods     uint64          // VOP3: modifier bits that mean something; the others are ignored
	SDWA     FormInfo
	DPP      FormInfo
}

// FormInfo describes the second word of an SDWA or DPP form.
type FormInfo struct {
	OK   bool   // the operation has this form
	Zero uint32 // bits that must be zero
	Mods uint32 // modifier bits that mean something
}
