// Package gcn is the instruction set of the simulated cards: gfx90a, gfx942,
// gfx950 and gfx1100. It knows the length of every instruction, takes instructions apart
// ([Decode]) and prints them as LLVM's disassembler does ([Inst.String]). It
// executes nothing and depends on nothing else in this module.
//
// # Tables
//
// All that differs from one opcode to the next stands in ops.tsv, one row per
// (encoding, mnemonic): the opcode on each target, the operands in assembler
// order with their register class and type, and flags. go generate turns it
// into zz_ops.go. What the rows of one encoding have in common (where the
// fields lie, how modifiers print) stands in one file per encoding. In what else targets differ are features ([Arch.Has]).
//
// # Identity of operations
//
// An [Op] names a mnemonic without its encoding suffix: v_add_u32_e32,
// v_add_u32_e64, v_add_u32_sdwa and v_add_u32_dpp are all [V_ADD_U32], on all
// targets. Opcode numbers are per encoding and per target; nobody but the
// decoder needs them.
//
// # Agreement with LLVM
//
// The text is compared with llvm-mc-21 where that is installed: every opcode
// of every encoding with the operands compilers emit and with random fields,
// streams of random words (GCN_ROUNDS=n for n times as many), and every
// compiled kernel of this project (GCN_CODE=dir for others). Without LLVM,
// testdata/golden.tsv stands for it; go test -run TestGolden -update writes it.
//
// # Trust
//
// Code comes from strangers. Decode reads no byte beyond what it is given,
// never panics, and answers what it does not know with an [*Error] that names
// the bytes.
package gcn

//go:generate go run ./internal/gen
