package randomc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rocwire/rocwire/conformance/internal/simrun"
	"github.com/rocwire/rocwire/examples/kernels"
)

// Levels are the optimisations that programs are compiled with.
var Levels = []string{"-O0", "-O1", "-O2", "-O3"}

// Arches are the GPUs, gfx1100 with both sizes of waves.
var Arches = []string{"gfx90a", "gfx942", "gfx950", "gfx1100", kernels.Wave64}

// Checker compiles and runs programs in a folder of its own.
type Checker struct {
	dir, clang string
	src        string
}

// NewChecker makes one that uses dir, which must be empty, and clang-19, or $CLANG.
func NewChecker(ctx context.Context, dir string) (*Checker, error) {
	c := &Checker{dir: dir, clang: os.Getenv("CLANG"), src: filepath.Join(dir, "src")}
	if c.clang == "" {
		c.clang = "clang-19"
	}
	if err := kernels.CopySources(c.src); err != nil {
		return nil, err
	}
	for _, lanes := range []int{32, 64} {
		if err := c.compile(ctx, defineLanes(lanes), "-std=gnu11", "-O1", "-w", "-c", filepath.Join(c.src, "cpu", "runner.c"), "-o", c.file(runner(lanes))); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func defineLanes(lanes int) string { return fmt.Sprint("-DLANES=", lanes) }
func runner(lanes int) string      { return fmt.Sprint("runner", lanes, ".o") }

func (c *Checker) file(name string) string { return filepath.Join(c.dir, name) }

func (c *Checker) compile(ctx context.Context, args ...string) error {
	text, err := exec.CommandContext(ctx, c.clang, args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", c.clang, err, text[:min(len(text), 4000)])
		if bytes.Contains(text, []byte("error in backend")) || bytes.Contains(text, []byte("PLEASE submit a bug report")) {
			err = fmt.Errorf("%w: %w", ErrCompiler, err)
		}
	}
	return err
}

// ErrCompiler is matched by errors of programs that the compiler is not able to compile, which says nothing about us.
var ErrCompiler = errors.New("the compiler gives up")

// common is what C leaves open, for both: integers wrap, floats are what is written.
var common = []string{"-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off", "-fno-math-errno", "-fno-crash-diagnostics", "-w"}

// native makes a program for this CPU, whose waves have so many lanes.
func (c *Checker) native(ctx context.Context, lanes int) error {
	args := append([]string{defineLanes(lanes), "-x", "c", "-std=gnu11", "-O1", "-Xclang", "-ffloat16-excess-precision=none", "-Xclang", "-fbfloat16-excess-precision=none",
		"-mf16c", "-mfma", "-msse4.1", "-I" + c.src, "-o", c.file("native")}, common...)
	return c.compile(ctx, append(args, c.file("p.hip"), "-x", "none", c.file(runner(lanes)), "-lm")...)
}

// deviceArgs are what clang is told of a GPU.
func deviceArgs(level string, arch ...string) []string {
	return append([]string{"-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-fno-ident", "-fuse-cuid=none",
		"-munsafe-fp-atomics", level}, arch...)
}

func (c *Checker) object(ctx context.Context, arch, level string) ([]byte, error) {
	if n, ok := newestFor[arch]; ok {
		return c.newest(ctx, n, level)
	}
	args := append(deviceArgs(level, "--offload-arch="+arch), "-I"+c.src, "-o", c.file("p.co"))
	args = append(args, common...)
	if err := c.compile(ctx, append(args, c.file("p.hip"))...); err != nil {
		return nil, err
	}
	return os.ReadFile(c.file("p.co"))
}

// Failure is a program whose results differ.
type Failure struct {
	Arch, Level, Kernel string
	Detail              string
}

func (f *Failure) Error() string {
	return fmt.Sprintf("%s on %s at %s: %s", f.Kernel, f.Arch, f.Level, f.Detail)
}

// Target is a GPU and a level of optimisation.
type Target struct{ Arch, Level string }

// Check runs a program natively and for each target, and answers a *Failure for the first that differs. Any other error is of the tools.
func (c *Checker) Check(ctx context.Context, p *Program, targets ...Target) error {
	if err := os.WriteFile(c.file("p.hip"), []byte(p.Source()), 0o666); err != nil {
		return err
	}
	var cases []*kernels.Case
	for _, k := range p.Kernels {
		cases = append(cases, k.launch(p.Seed))
	}
	wants := map[int][]*kernels.Result{} // by lanes of a wave
	for _, t := range targets {
		lanes := kernels.Lanes(t.Arch)
		if wants[lanes] == nil {
			if err := c.native(ctx, lanes); err != nil {
				return err
			}
			cpu := kernels.OpenCPU(c.file("native"))
			for _, k := range cases {
				r, err := cpu.Run(k)
				if err != nil {
					return err
				}
				wants[lanes] = append(wants[lanes], r)
			}
		}
		want := wants[lanes]
		image, err := c.object(ctx, t.Arch, t.Level)
		if err != nil {
			return err
		}
		card, err := simrun.Load(processor(t.Arch), image)
		if err != nil {
			return &Failure{t.Arch, t.Level, "", err.Error()}
		}
		defer card.Close()
		for i, k := range p.Kernels {
			got, err := card.Run(cases[i])
			if err == nil {
				err = cases[i].Diff(want[i], got)
			}
			if err != nil {
				return &Failure{t.Arch, t.Level, k.Name, err.Error()}
			}
		}
	}
	return nil
}

// launch is the kernel's launch: its input, room for its results, and the cells of atomics.
func (k *Kernel) launch(seed uint64) *kernels.Case {
	n := int(k.Groups * k.Threads)
	in := make([]byte, 0, 8*n)
	for i := range n {
		in = binary.LittleEndian.AppendUint64(in, (seed*0x9e3779b97f4a7c15+uint64(i))*0xbf58476d1ce4e5b9)
	}
	cells := make([]byte, 4*atomicRows*atomicCells)
	for _, row := range []int{1, 4} { // and, min
		for i := range 4 * atomicCells {
			cells[4*atomicCells*row+i] = 0xff
		}
	}
	c := &kernels.Case{Name: k.Name, Kernel: k.Name, Grid: [3]uint32{k.Groups, 1, 1}, Block: [3]uint32{k.Threads, 1, 1}}
	for i, b := range [][]byte{in, make([]byte, 8*n*k.Words), cells} {
		c.Buffers = append(c.Buffers, kernels.Buffer{Data: b, Type: kernels.Bits})
		c.Args = append(c.Args, kernels.Arg{Buffer: i, Align: 8})
	}
	return c
}
