//go:build amd64 || arm64

package wire

// pause tells the processor that it is in a loop that waits for another one.
//
//go:noescape
func pause()
