// Package simrun runs kernels on a simulated card in this process.
package simrun

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu"
)

// Card is a simulated card with a module.
type Card struct {
	rt     *simgpu.Runtime
	module hip.Module
	said   bytes.Buffer
}

var thread = hip.Thread{ID: 1}

// Load makes a card with a code object on it. Close it.
func Load(arch string, image []byte) (*Card, error) {
	c := &Card{}
	rt, err := simgpu.New(simgpu.Options{Arch: arch, MemoryBytes: 1 << 30, Workers: 1, Logf: func(f string, a ...any) { fmt.Fprintf(&c.said, f+"\n", a...) }})
	if err != nil {
		return nil, err
	}
	c.rt = rt
	var e hip.Error
	if c.module, e = rt.ModuleLoadData(thread, image); e != hip.Success {
		err = c.fail("hipModuleLoadData", e)
		rt.Close()
		return nil, err
	}
	return c, nil
}

// Close ends the card.
func (c *Card) Close() { c.rt.Close() }

func (c *Card) fail(what string, e hip.Error) error {
	return fmt.Errorf("%s: %s %s", what, e.Name(), c.said.String())
}

// Run launches a case. After one that fails the card is of no use any more.
func (c *Card) Run(l *kernels.Case) (*kernels.Result, error) {
	f, e := c.rt.ModuleGetFunction(thread, c.module, l.Kernel)
	if e != hip.Success {
		return nil, c.fail("hipModuleGetFunction", e)
	}
	var at []hip.Ptr
	for _, b := range l.Buffers {
		p, e := c.rt.Malloc(thread, uint64(len(b.Data)))
		if e != hip.Success {
			return nil, c.fail("hipMalloc", e)
		}
		if e := c.rt.Memcpy(thread, p, host(b.Data), uint64(len(b.Data)), hip.MemcpyHostToDevice); e != hip.Success {
			return nil, c.fail("hipMemcpy", e)
		}
		at = append(at, p)
	}
	e = c.rt.LaunchKernel(thread, &hip.Launch{Function: f, Grid: hip.Dim3{X: l.Grid[0], Y: l.Grid[1], Z: l.Grid[2]}, Block: hip.Dim3{X: l.Block[0], Y: l.Block[1], Z: l.Block[2]},
		Args: l.Segment(func(i int) uint64 { return uint64(at[i]) })})
	if e == hip.Success {
		e = c.rt.DeviceSynchronize(thread)
	}
	if e != hip.Success {
		return nil, c.fail("the launch", e)
	}
	r := &kernels.Result{}
	for i, b := range l.Buffers {
		data := make([]byte, len(b.Data))
		if e := c.rt.Memcpy(thread, host(data), at[i], uint64(len(data)), hip.MemcpyDeviceToHost); e != hip.Success {
			return nil, c.fail("hipMemcpy", e)
		}
		if e := c.rt.Free(thread, at[i]); e != hip.Success {
			return nil, c.fail("hipFree", e)
		}
		r.Buffers = append(r.Buffers, data)
	}
	return r, nil
}

func host(b []byte) hip.Ptr { return hip.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
