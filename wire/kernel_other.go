//go:build !linux

package wire

// KernelTLS reports whether the kernel makes the records of TLS 1.3: only Linux does.
func KernelTLS() bool { return false }
