// Package folding compares what the simulated GPUs compute with what LLVM's
// constant folding says: one LLVM function applies each operation to constants,
// which opt replaces by results; a kernel for each operation applies it to the same
// operands out of memory. What opt does not fold is not compared.
//
// The operations are those of LLVM's language, in every type the GPUs have, and
// AMD's intrinsics that LLVM folds. Each is compiled twice: with operands of each
// lane's own, for vector instructions, and with one operand for the wave, for scalar ones.
package folding
