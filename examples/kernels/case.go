package kernels

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Case is one launch of a kernel whose results are known by running it on the
// CPU.
type Case struct {
	Name   string // "saxpy_O0/saxpy/n=1000"
	Object string // what Object takes
	Kernel string

	Grid   [3]uint32 // workgroups
	Block  [3]uint32 // threads of a workgroup
	Shared uint32    // bytes of dynamic LDS

	Args    []Arg
	Buffers []Buffer   // device memory, with its contents before the launch
	Set     []Variable // device variables to set before the launch
	Read    []string   // device variables to read after it
}

// Arg is an argument: a pointer to a buffer, or a value.
type Arg struct {
	Buffer int    // index in Case.Buffers, or -1
	Data   []byte // the value, if Buffer is -1
	Align  int    // in bytes
}

// Buffer is device memory and how its contents compare.
type Buffer struct {
	Data []byte
	Type Type
}

// Type says which differences between two results do not count.
type Type uint8

const (
	Bits         Type = iota // none
	F32                      // float32: NaNs are equal
	F64                      // float64: NaNs are equal
	F32ZerosSame             // float32: NaNs are equal, and zeros
	F64ZerosSame             // float64: NaNs are equal, and zeros
)

// Variable is a device variable's value.
type Variable struct {
	Name string
	Data []byte
}

// Result is what a launch leaves: every buffer, then every variable of Read.
type Result struct {
	Buffers   [][]byte
	Variables [][]byte
}

// Segment lays the arguments out as the explicit part of the kernel argument
// segment; address tells where a buffer is.
func (c *Case) Segment(address func(buffer int) uint64) []byte {
	var seg []byte
	for i := range c.Args {
		a := &c.Args[i]
		for len(seg)%a.Align != 0 {
			seg = append(seg, 0)
		}
		if a.Buffer >= 0 {
			seg = binary.LittleEndian.AppendUint64(seg, address(a.Buffer))
		} else {
			seg = append(seg, a.Data...)
		}
	}
	return seg
}

// Diff compares what a device computed with what the CPU computed, and
// describes the first differences.
func (c *Case) Diff(want, got *Result) error {
	if len(got.Buffers) != len(want.Buffers) || len(got.Variables) != len(want.Variables) {
		return fmt.Errorf("%s: %d buffers and %d variables, want %d and %d", c.Name,
			len(got.Buffers), len(got.Variables), len(want.Buffers), len(want.Variables))
	}
	for i := range want.Buffers {
		if s := diff(want.Buffers[i], got.Buffers[i], c.Buffers[i].Type); s != "" {
			return fmt.Errorf("%s: buffer %d: %s", c.Name, i, s)
		}
	}
	for i := range want.Variables {
		if s := diff(want.Variables[i], got.Variables[i], Bits); s != "" {
			return fmt.Errorf("%s: variable %s: %s", c.Name, c.Read[i], s)
		}
	}
	return nil
}

// diff describes up to three differing elements, or returns "".
func diff(want, got []byte, t Type) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
	}
	width := 4
	if t == F64 || t == F64ZerosSame {
		width = 8
	}
	text, count := "", 0
	for at := 0; at < len(want); at += width {
		end := min(at+width, len(want))
		w, g := want[at:end], got[at:end]
		if string(w) == string(g) || same(w, g, t) {
			continue
		}
		if count++; count <= 3 {
			text += fmt.Sprintf("element %d (byte %#x) is %s, want %s; ", at/width, at, show(g, t), show(w, t))
		}
	}
	if count == 0 {
		return ""
	}
	return text + fmt.Sprintf("%d of %d differ", count, (len(want)+width-1)/width)
}

// float is the value of an element of a float type.
func float(b []byte, t Type) (float64, bool) {
	switch {
	case (t == F32 || t == F32ZerosSame) && len(b) == 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), true
	case (t == F64 || t == F64ZerosSame) && len(b) == 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), true
	}
	return 0, false
}

// same tells whether two elements of different bits are equal all the same.
func same(w, g []byte, t Type) bool {
	x, ok := float(w, t)
	y, _ := float(g, t)
	if !ok {
		return false
	}
	if math.IsNaN(x) && math.IsNaN(y) {
		return true
	}
	return (t == F32ZerosSame || t == F64ZerosSame) && x == 0 && y == 0
}

// show writes an element as bits, and as a float if it is one.
func show(b []byte, t Type) string {
	var v uint64
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	if f, ok := float(b, t); ok {
		return fmt.Sprintf("%v (%#x)", f, v)
	}
	return fmt.Sprintf("%#x", v)
}
