//go:build !amd64

package mono

// Now is the time in nanoseconds since some moment of this process.
func Now() int64 { return plain() }
