//go:build !amd64

package hipremote

func prefixed(data []byte, prefix, mask uint32) int { return prefixedPlain(data, prefix, mask) }
