//go:build !amd64

package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// useTiles is false: there are no kernels of matrix instructions.
var useTiles = false

type tileMemory struct{}

func (m *matrixOp) bindTiles(*binder, *gcn.Inst) func(*wave) { return nil }
