package exec

import "fmt"

// boundary32 are the values where kernels go wrong, execPatterns the masks
// where merging does.
var (
	boundary32 = []uint32{0, 1, 2, 31, 32, 33, 63, 64, 0xff, 0xffff, 0xffffff, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff,
		0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0xff812345, // infinities, NaNs
		0x00000001, 0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, // denormals and the limits
		0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000, 0xbf7fffff, 0x3effffff, 0x3f000000, 0xbfc00000, 0x4b000001}
	execPatterns = []uint64{^uint64(0), 0, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 1, 1 << 63, 0xffff, 0x8420, 0xffffffff00000000, 0x00ff00ff12345678}
)

type laneError struct {
	reg, lane int
	got, want uint32
}

func (e *laneError) Error() string {
	return fmt.Sprintf("register %d lane %d: %#x, want %#x", e.reg, e.lane, e.got, e.want)
}
