package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rocwire/rocwire/conformance/internal/randomc"
)

// conformRandomC compares random C programs on the simulated cards with what clang makes of them for this CPU, for as long as -for says.
// A program that fails is reduced and left in a folder.
func conformRandomC(ctx context.Context, o *options) (failed int, err error) {
	dir, err := os.MkdirTemp("", "rocwire-random-c")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	c, err := randomc.NewChecker(ctx, dir)
	if err != nil {
		return 0, err
	}
	seed := o.seed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano()) >> 10
	}
	began, said, n, skipped := time.Now(), time.Now(), 0, 0
	fmt.Printf("random-c: seed %d\n", seed)
	for ; time.Since(began) < o.during && ctx.Err() == nil; n++ {
		if time.Since(said) > time.Minute {
			said = time.Now()
			fmt.Printf("random-c: %d programs, %d failed, %.0f min\n", n, failed, time.Since(began).Minutes())
		}
		p := randomc.Generate(seed+uint64(n), 3)
		var targets []randomc.Target
		for i, arch := range randomc.Arches {
			targets = append(targets, randomc.Target{Arch: arch, Level: randomc.Levels[(n/2+i*2+n%2)%len(randomc.Levels)]})
		}
		var f *randomc.Failure
		switch err := c.Check(ctx, p, targets...); {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, randomc.ErrCompiler):
			skipped++
		case errors.As(err, &f):
			failed++
			fmt.Printf("random-c: FAILED seed %d: %v\n", p.Seed, f)
			reducing, cancel := context.WithTimeout(ctx, 10*time.Minute)
			c.Reduce(reducing, p, randomc.Target{Arch: f.Arch, Level: f.Level})
			cancel()
			name := filepath.Join(os.TempDir(), fmt.Sprintf("rocwire-random-c-%d.hip", p.Seed))
			if err := os.WriteFile(name, []byte(p.Source()), 0o666); err != nil {
				return failed, err
			}
			fmt.Printf("random-c: reduced to %s\n", name)
			if failed == 10 {
				return failed, nil
			}
		default:
			return failed, fmt.Errorf("seed %d: %w", p.Seed, err)
		}
	}
	fmt.Printf("random C programs on %s: %d passed, %d failed, %d that clang-19 does not compile, %.0f s\n", strings.Join(randomc.Arches, ", "), n-failed-skipped, failed, skipped, time.Since(began).Seconds())
	return failed, nil
}
