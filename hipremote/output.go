package hipremote

import (
	"os"

	"github.com/rocwire/rocwire/hip/hiprpc"
)

// output takes the notices with what kernels print.
func (c *Client) output(op uint16, payload []byte) bool {
	if op != hiprpc.NoticeOutput {
		return false
	}
	stderr, text, ok := hiprpc.DecodeOutput(payload)
	switch {
	case !ok:
		c.violation(op)
	case c.cfg.Output != nil:
		c.cfg.Output(stderr, text)
	case stderr:
		_, _ = os.Stderr.Write(text) // a program that has closed it does not want it
	default:
		_, _ = os.Stdout.Write(text)
	}
	return true
}
