package hipv1

import (
	"encoding/binary"
	"errors"
)

// ErrOperation is an operation that is not served. Those clients know it as hipErrorNotSupported.
var ErrOperation = errors.New("operation that is not served")

// MaxSmall bounds the payload of requests that are read whole.
const MaxSmall = 64 << 10

// HeadSize is how much of a request's payload there has to be for [Parse], where the rest is too much to read at once; false: it comes whole.
func HeadSize(op Op) (int, bool) {
	switch op {
	case OpMemcpy, OpMemcpyAsync:
		return 36, true
	case OpMemcpy2D, OpMemcpy2DAsync:
		return 64, true
	case OpMemcpyHtoDCached:
		return 32, true
	case OpModuleLoadData, OpModuleLoadDataEx:
		return moduleLoadApril, true
	case OpModuleLoadAndGetFunction:
		return loadAndGet, true
	}
	return 0, false
}

// fixed decodes a struct, behind which there may be more.
func fixed[T any](b []byte) (any, int, error) {
	v := new(T)
	n := binary.Size(v)
	if len(b) < n {
		return nil, 0, violation("a payload of %d bytes where %d belong", len(b), n)
	}
	_, err := binary.Decode(b, le, v)
	return v, n, err
}

// padded decodes a struct of which the end may be missing: that is zero.
func padded[T any](b []byte) (any, int, error) {
	v := new(T)
	all := make([]byte, binary.Size(v))
	n := copy(all, b)
	_, err := binary.Decode(all, le, v)
	return v, n, err
}

// Uint64s decodes a list of n numbers that b begins with.
func Uint64s(b []byte, n uint32) ([]uint64, error) {
	if uint64(n)*8 > uint64(len(b)) {
		return nil, violation("a list of %d in %d bytes", n, len(b))
	}
	list := make([]uint64, n)
	for i := range list {
		list[i] = le.Uint64(b[8*i:])
	}
	return list, nil
}

// Int32s is that for numbers of four bytes.
func Int32s(b []byte, n uint32) ([]int32, error) {
	if uint64(n)*4 > uint64(len(b)) {
		return nil, violation("a list of %d in %d bytes", n, len(b))
	}
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(le.Uint32(b[4*i:]))
	}
	return list, nil
}

// text is the string that b begins with, false if it does not end there: somebody has cut it.
func text(b []byte) (string, bool) {
	for i, c := range b {
		if c == 0 {
			return string(b[:i]), true
		}
	}
	return "", false
}

// PutText puts a string into a field, cut to what fits with the zero behind it.
func PutText(field []byte, s string) {
	n := copy(field[:len(field)-1], s)
	clear(field[n:])
}
