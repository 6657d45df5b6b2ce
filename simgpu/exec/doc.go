// Package exec runs AMDGPU machine code (gfx90a, gfx942, gfx950, gfx1100) on the CPU.
//
// A Program is the decoded, executable form of the code that lies in a
// Memory; it decodes on demand, a function at a time, and is shared by all
// dispatches of a device. A Dispatch describes one kernel launch; Run executes
// its workgroups on a number of goroutines and returns what they did (Stats)
// and how they ended (nil, a *Fault, or the error of the context).
//
//	mem, _ := exec.NewMemory(base, size)   // the reserved device range
//	p := exec.NewProgram(gcn.GFX90A, mem, exec.Options{})
//	d := &exec.Dispatch{Program: p, Kernel: "saxpy", Entry: entry, Desc: desc,
//		Kernarg: kernarg, Grid: [3]uint32{4096, 1, 1}, Group: [3]uint32{256, 1, 1}}
//	stats, err := d.Run(ctx, 2)
//
// # Execution model
//
// A wave is 64 lanes; on RDNA 32, the lower half of each register. A vector register is a Vec, one 32-bit element per lane;
// vector instructions are functions func(d, a, b, c *Vec) over whole registers
// whose result is merged under EXEC. 64-bit operands are two consecutive
// registers, low half first, so the same signature serves them. A basic block
// ends where control may go elsewhere or EXEC changes: inside a block EXEC is a
// constant.
//
// One goroutine executes all waves of a workgroup, each until it ends, reaches
// a barrier or has used its time slice, or waits for a load and may store there
// then: all waves have loaded before the first one stores, as on hardware; see
// giveway.go. A workgroup whose waves all wait is set
// aside and another one is taken up, so workgroups that wait for each other
// make progress; a cooperative dispatch keeps all its workgroups resident.
// Where there is no LDS, a single wave executes one after the other what many
// workgroups have, as long as each ends at once; see chain.go.
//
// # Translation
//
// The functions of the instructions are portable and complete; they are what
// translated code is compared with. On Linux and amd64 processors with AVX2 blocks
// that are executed often are translated to its machine code, together with those
// that follow them: to AVX-512, each instruction of which package x64 makes a few of AVX2 where the
// processor has no more. There is no translation for ARM: all is executed
// by the functions there. The
// translation knows most arithmetic with its modifiers, control flow, the LDS,
// scratch, loads and stores of bytes to four dwords in device memory and common
// atomics; for the rest it returns to Go, instruction by instruction. A region keeps the registers that its loops use
// most in registers of the processor, or, with AVX2, executes what works lane by lane 16 lanes at a time, whose registers have room there. A loop's arithmetic takes what it reads from the
// LDS from there, where the lanes' addresses are rows or all the same. Addresses of device memory that are the same distance apart from lane to lane are
// computed for the first lane only, also from one round of a loop to the next; see native_affine.go. Memory for code is mapped to be executed and
// written through its file, so that no page is ever both. Options say when code
// is translated and how much there may be.
//
// # What is executed
//
// Every instruction of the two targets, but for the few that Reason names; such
// a one is an InstructionFault which names it. Images (gfx90a) are linear and
// have one level; see sampler for how they are filtered. Bounds of buffers are
// those of AMD's CDNA documents. No exceptions of floating-point arithmetic are
// recorded, and a wave that halts itself ends its kernel, as there is no
// debugger.
//
// Floating-point arithmetic is IEEE in every rounding and denormal mode; the
// usual mode (nearest even, denormals kept) is fast. Division built from
// v_div_scale, v_div_fmas and v_div_fixup is correctly rounded. Reciprocals,
// roots, exponentials, logarithms and sines are rounded from float64, which is
// within the hardware's error but not always its result. Matrix instructions add
// up products in the order of k, each step fused and rounded; the hardware's order
// is not documented. On processors with AVX-512 there are kernels of the dense ones; translated code has
// those of f32, f16, bf16 and i8 on all processors that it is for. All are compared with the portable functions bit for bit.
//
// # Trust
//
// Kernel code and everything it computes is untrusted. Each memory access is
// checked against the Memory's range before it is made, in translated code too;
// pages inside the range that are not mapped fault and are recovered. Register
// numbers, LDS and scratch offsets are checked. A kernel can therefore end with a
// Fault, or never end (cancel the context), but cannot reach anything but device
// memory, its LDS and its scratch.
package exec

//go:generate go run ./internal/gen
