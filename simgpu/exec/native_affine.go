//go:build linux && amd64

package exec

import "github.com/rocwire/rocwire/simgpu/exec/internal/x64"

// Vector registers whose contents are affine: from lane to lane the same distance apart. Addresses are, mostly: the number of a
// lane, times the size of an element, plus where an array begins. Nothing of that needs vectors. A block whose accesses of device
// memory are such has code of its own for the case that the registers which it begins with are affine, too, which is found out where
// it begins. There the first lane's contents are computed, with scalar instructions, and the registers are not written before
// somebody wants them: an instruction that computes something else, what follows the block, Go, or who handles a page fault.
//
// What an instruction is in such code is decided before it is generated: affinePlanner goes through a block.

// affine is the contents of a register or a pair of them: in lane i, base + i × stride, where the base is in a slot of the wave.
type affine struct {
	slot int
	wide bool        // of 64 bits, otherwise of 32, and what is in the upper half of the slot says nothing
	root *affineRoot // what it was computed from; nil: it is the same in all lanes

	scale, stride int   // stride is scale times the root's
	made          []int // the instructions that have computed it
}

// affinePart is what of such a number is in a register.
type affinePart uint8

const (
	affineLow  affinePart = iota // the lower 32 bits
	affineHigh                   // the upper ones
	affineSign                   // 32 times the sign of the lower ones
	affineSum                    // the lower ones plus a term, whose carries a lane mask has
)

// affineReg is what is in a vector register.
type affineReg struct {
	*affine
	part  affinePart
	stale bool // it was not written
}

// affineStale is a register that was not written, and what has to be written to it.
type affineStale struct {
	reg    int
	slot   int
	stride int
	part   affinePart
	term   affineTerm // affineSum: in a slot, or a constant
	mask   mdst
}

// affineRoot is a register, or a pair of them, that a block begins with.
type affineRoot struct {
	reg    int
	wide   bool
	slot   int
	stride int  // that the code is for
	stale  bool // the code does not mind that it was not written
}

// affineStep is what becomes of an instruction.
type affineStep struct {
	write   []affineStale    // before it
	make    func(*nativeGen) // instead of it; nil: it is generated as usual
	address *affine          // of what it accesses; nil: not known
	stale   []affineStale    // before it, and behind what is written
}

// affinePlan is what becomes of a block.
type affinePlan struct {
	roots []*affineRoot
	steps []affineStep
	write []affineStale // behind the instructions
	turn  *affineTurn   // nil: none
	start x64.Label     // of the code, behind what finds the roots

	number int // of the region's plans
}

// affineTurn is the way from the end of a block to a loop with a plan, which is the block itself or comes behind it, whose roots are known there.
type affineTurn struct {
	last  *nativeBlock // the block, or one behind it that has nothing but a branch
	to    *block
	again map[*affineRoot]*affine // what the roots are; of a loop that is being planned nil
}

// mostTurned is how many roots a loop has at most: they are moved to their slots at once.
const mostTurned = 4
