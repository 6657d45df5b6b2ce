// Package randomc makes random C programs, compiles each with clang for the CPU
// and for a GPU, runs it natively and on the simulated GPU, and compares the
// results bit for bit. Another author's compiler so says what instructions mean.
//
// A [Program] follows from its seed. It is a few kernels over integers of all
// widths, f16, bf16, f32 and f64, vectors, structures, arrays in scratch, the LDS
// and device memory, with divergent control flow, loops, switches, calls,
// recursion, atomics, barriers and cross-lane operations.
//
// What C does not define does not occur: shift counts are masked, divisors are
// not zero, integers wrap (-fwrapv), conversions are in range. What the two
// processors may do differently does not either: nothing is contracted, which NaN
// an operation answers is hidden wherever bits are looked at, atomics commute.
//
// A program that fails is reduced to the statements it needs ([Checker.Reduce]).
package randomc
