package worker

import (
	"log/slog"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// strict is a runtime that refuses what AMD's library refuses, and where that would wait for streams that wait for the client.
type strict struct {
	hip.Unimplemented
	rows, plain int
}

func (r *strict) Memcpy2DAsync(_ hip.Thread, _ hip.Ptr, dpitch uint64, _ hip.Ptr, spitch, width, _ uint64, _ hip.MemcpyKind, _ hip.Stream) hip.Error {
	r.rows++
	if dpitch < width || spitch < width {
		return hip.ErrorInvalidPitchValue
	}
	return hip.Success
}

func (r *strict) MemcpyAsync(hip.Thread, hip.Ptr, hip.Ptr, uint64, hip.MemcpyKind, hip.Stream) hip.Error {
	r.plain++
	return hip.Success
}

func (r *strict) HostRegister(hip.Thread, hip.Ptr, uint64, uint32) hip.Error { return hip.Success }

func (r *strict) HostGetDevicePointer(_ hip.Thread, p hip.Ptr, _ uint32) (hip.Ptr, hip.Error) {
	return p, hip.Success
}

func (r *strict) HostUnregister(hip.Thread, hip.Ptr) hip.Error { panic("it waits for all streams") }

// TestOneRow: a copy of one row has no pitch.
func TestOneRow(t *testing.T) {
	r := &strict{}
	s := newSession(r, nil, slog.Default())
	for _, c := range []hiprpc.Copy{{Width: 100, Height: 1}, {Width: 100, Height: 2}} {
		if code := s.copyRows(hip.Thread{}, 1, 100*(c.Height-1), 2, 100, &c, hip.MemcpyHostToDevice); code != hip.Success {
			t.Errorf("%d rows: %v", c.Height, code)
		}
	}
	if r.rows != 1 || r.plain != 1 {
		t.Errorf("%d copies of rows, %d without", r.rows, r.plain)
	}
}

// TestClaimsAreTried: whether host memory can be claimed is found out without waiting for streams, which may wait for the client that claims it.
func TestClaimsAreTried(t *testing.T) {
	s := newSession(&strict{}, nil, slog.Default())
	if !s.seesInPlace(hip.Thread{}) {
		t.Error("memory is seen where it is, and that was not found")
	}
}
