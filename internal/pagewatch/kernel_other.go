//go:build !linux

package pagewatch

import "errors"

// kernel is nowhere but on Linux.
type kernel struct{}

func theKernel() *kernel { return nil }

func (*kernel) register(base, end uint64) error { return errors.ErrUnsupported }
func (*kernel) unregister(base, end uint64)     {}
func (*kernel) protect(base, end uint64) error  { return errors.ErrUnsupported }

func (*kernel) written(base, end uint64, f func(from, to uint64) bool) bool { return false }

func unseenWriters() bool { return true }

func private(base, end uint64) bool { return false }

// Prepare does nothing.
func Prepare() {}
