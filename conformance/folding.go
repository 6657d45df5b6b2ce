package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/rocwire/rocwire/conformance/internal/folding"
)

// conformFolding compares operations on the simulated cards with what LLVM computes when it compiles them with constants, on new operands for as long as -for says.
func conformFolding(ctx context.Context, o *options) (failed int, err error) {
	dir, err := os.MkdirTemp("", "rocwire-folding")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	seed, began, values, operations := o.seed, time.Now(), 0, 0
	if seed == 0 {
		seed = uint64(began.UnixNano()) >> 10
	}
	for n := uint64(0); ctx.Err() == nil && (n == 0 || time.Since(began) < o.during); n++ {
		for _, arch := range []string{"gfx90a", "gfx942", "gfx1100"} {
			r, err := folding.Check(ctx, dir, arch, seed+n)
			if err != nil {
				return failed, err
			}
			values += r.Values
			operations = r.Operations
			failed += len(r.Differences)
			for _, d := range r.Differences {
				fmt.Printf("folding: FAILED seed %d: %s %s\n", seed+n, arch, d)
			}
		}
	}
	fmt.Printf("LLVM's constant folding on gfx90a, gfx942 and gfx1100: %d operations, %d values, %d different, %.0f s\n", operations, values, failed, time.Since(began).Seconds())
	return failed, nil
}
