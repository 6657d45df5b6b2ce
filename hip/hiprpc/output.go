package hiprpc

import "github.com/rocwire/rocwire/wire"

// Where a kernel's text goes, in NoticeOutput.
const (
	outputStdout = 1
	outputStderr = 2
)

// AppendOutput encodes the beginning of text in a NoticeOutput, as much as fits, and returns the rest.
func AppendOutput(b []byte, stderr bool, text []byte) (notice, rest []byte) {
	n := min(len(text), wire.MaxNotice-1)
	to := byte(outputStdout)
	if stderr {
		to = outputStderr
	}
	return append(append(b, to), text[:n]...), text[n:]
}

// DecodeOutput reads what AppendOutput wrote; false if b is anything else.
func DecodeOutput(b []byte) (stderr bool, text []byte, ok bool) {
	if len(b) == 0 || b[0] != outputStdout && b[0] != outputStderr {
		return false, nil, false
	}
	return b[0] == outputStderr, b[1:], true
}
