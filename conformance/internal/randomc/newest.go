package randomc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/internal/debtree"
)

// newest is what LLVM 21 makes machine code for, of which Debian's package has no clang but llc.
type newest struct {
	front      []string // what clang-19 is told, which makes LLVM's own language of a program
	cpu        string
	attributes string // -mattr
}

// newestFor are those: gfx950, which clang-19 does not know, and gfx1100, of which it stores registers where fewer lanes are on than
// where it loads them again (a call in a branch of a branch, at -O1). With gfx1100's registers of 16 bits, LLVM 21 widens a 16-bit value in the upper half
// of a register by masking that register, which is the other half (seed 1, at -O2): so it is to do without.
var newestFor = map[string]newest{
	"gfx950":       {[]string{"--offload-arch=gfx942"}, "gfx950", ""},
	"gfx1100":      {[]string{"--offload-arch=gfx1100"}, "gfx1100", "-real-true16"},
	kernels.Wave64: {[]string{"--offload-arch=gfx1100", "-mwavefrontsize64"}, "gfx1100", "-real-true16,+wavefrontsize64"},
}

// processor is what a card is for one of Arches.
func processor(arch string) string {
	if n, ok := newestFor[arch]; ok {
		return n.cpu
	}
	return arch
}

// ErrNoLLC is what Check answers for those where there is no llc-21.
var ErrNoLLC = errors.New("llc-21 is neither installed nor in ROCWIRE_SID")

// llc is how llc-21 is started: an installed one, or the one in the tree of Debian's newest packages, by that tree's
// own loader.
func llc() ([]string, error) {
	if path, err := exec.LookPath("llc-21"); err == nil {
		return []string{path}, nil
	}
	tree, err := debtree.Find()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(tree, "usr/lib/llvm-21/bin/llc")
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoLLC, err)
	}
	return []string{filepath.Join(tree, "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", filepath.Join(tree, "usr/lib/x86_64-linux-gnu"), path}, nil
}

// targetAttributes are what clang says of the GPU in each function's attributes.
var targetAttributes = regexp.MustCompile(`"target-(cpu|features)"="[^"]*"`)

func (c *Checker) newest(ctx context.Context, n newest, level string) ([]byte, error) {
	command, err := llc()
	if err != nil {
		return nil, err
	}
	args := append(deviceArgs(level, n.front...), "-emit-llvm", "-S", "-I"+c.src, "-o", c.file("p.ll"))
	if err := c.compile(ctx, append(append(args, common...), c.file("p.hip"))...); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(c.file("p.ll"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.file("p.ll"), targetAttributes.ReplaceAll(text, nil), 0o666); err != nil {
		return nil, err
	}
	command = append(command, level, "-mcpu="+n.cpu, "-mattr="+n.attributes, "-filetype=obj", c.file("p.ll"), "-o", c.file("p.o"))
	if text, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("llc-21: %w\n%s", err, text[:min(len(text), 4000)])
	}
	if text, err := exec.CommandContext(ctx, "ld.lld-19", "-shared", "--no-undefined", c.file("p.o"), "-o", c.file("p.co")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("ld.lld-19: %w\n%s", err, text[:min(len(text), 4000)])
	}
	return os.ReadFile(c.file("p.co"))
}
