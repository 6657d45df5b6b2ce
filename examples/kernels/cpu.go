package kernels

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// CPU runs kernels as the program that a C compiler makes of their sources.
type CPU struct{ path string }

// OpenCPU is a program that somebody else compiled of kernels and cpu/runner.c.
func OpenCPU(path string) *CPU { return &CPU{path} }

// CopySources writes the sources of the kernels, kernel.h and the CPU's part into a new folder.
func CopySources(dir string) error {
	if err := os.CopyFS(dir, sources); err != nil {
		return fmt.Errorf("kernels: %w", err)
	}
	return nil
}

// Lanes is how many lanes the waves of a processor have for which there are objects.
func Lanes(arch string) int {
	if arch == "gfx1100" {
		return 32
	}
	return 64
}

// BuildCPU compiles the sources into a program in dir, which must exist, whose waves have so many lanes. It
// uses $CC, or gcc.
func BuildCPU(dir string, lanes int) (*CPU, error) {
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "gcc"
	}
	src := filepath.Join(dir, "src")
	if err := CopySources(src); err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "kernels-cpu")
	// Floats as they are written, and integers that wrap: what a GPU does.
	args := []string{fmt.Sprint("-DLANES=", lanes), "-std=gnu11", "-O2", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-o", out,
		filepath.Join("cpu", "runner.c"), "-x", "c"}
	files, err := fs.Glob(sources, "*.hip")
	if err != nil {
		return nil, err
	}
	args = append(append(args, files...), "-x", "none", "-lm")
	cmd := exec.Command(cc, args...)
	cmd.Dir = src
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("kernels: %s: %w\n%s", cc, err, text)
	}
	return &CPU{path: out}, nil
}

// Run launches a case on the CPU. It does not change the case.
func (p *CPU) Run(c *Case) (*Result, error) {
	var in []byte
	u32 := func(v uint32) { in = binary.LittleEndian.AppendUint32(in, v) }
	blob := func(b []byte) { u32(uint32(len(b))); in = append(in, b...) }
	in = append(in, "RWK1"...)
	blob([]byte(c.Kernel))
	for _, v := range append(c.Grid[:], c.Block[:]...) {
		u32(v)
	}
	u32(c.Shared)
	u32(uint32(len(c.Buffers)))
	size := 0
	for _, b := range c.Buffers {
		blob(b.Data)
		size += len(b.Data)
	}
	u32(uint32(len(c.Set)))
	for _, v := range c.Set {
		blob([]byte(v.Name))
		blob(v.Data)
	}
	blob(c.Segment(func(int) uint64 { return 0 }))
	var pointers [][2]uint32
	at := 0
	for _, a := range c.Args {
		at = (at + a.Align - 1) / a.Align * a.Align
		if a.Buffer >= 0 {
			pointers = append(pointers, [2]uint32{uint32(at), uint32(a.Buffer)})
			at += 8
		} else {
			at += len(a.Data)
		}
	}
	u32(uint32(len(pointers)))
	for _, q := range pointers {
		u32(q[0])
		u32(q[1])
		u32(0)
	}
	u32(uint32(len(c.Read)))
	for _, name := range c.Read {
		blob([]byte(name))
	}

	cmd := exec.Command(p.path)
	cmd.Stdin = bytes.NewReader(in)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("kernels: %s on the CPU: %w %s", c.Name, err, stderr.String())
	}
	if len(out) < size {
		return nil, fmt.Errorf("kernels: %s on the CPU: %d bytes of results, want %d", c.Name, len(out), size)
	}
	r := &Result{}
	for _, b := range c.Buffers {
		r.Buffers = append(r.Buffers, out[:len(b.Data):len(b.Data)])
		out = out[len(b.Data):]
	}
	for _, name := range c.Read {
		n := 0
		for _, v := range c.Set {
			if v.Name == name {
				n = len(v.Data)
			}
		}
		if n == 0 || n > len(out) {
			return nil, fmt.Errorf("kernels: %s: variable %s is read and not set whole", c.Name, name)
		}
		r.Variables = append(r.Variables, out[:n:n])
		out = out[n:]
	}
	if len(out) != 0 {
		return nil, fmt.Errorf("kernels: %s on the CPU: %d bytes too many", c.Name, len(out))
	}
	return r, nil
}
