package smiremote

import (
	"context"

	"github.com/rocwire/rocwire/smi"
)

// opQuota sets a quota of a card.
const opQuota uint16 = 0x0856

// quotaRequest is what follows the card.
type quotaRequest struct {
	Session string    `msgpack:"s,omitempty"` // "": all of them
	Quota   smi.Quota `msgpack:"q"`
}

func decodeQuota(b []byte) (*quotaRequest, error) {
	var q quotaRequest
	if err := unpack(b, &q); err != nil {
		return nil, request(err)
	}
	return &q, q.Quota.Check()
}

// SetQuota implements smi.Limiter: ErrNotSupported where there are no sessions,
// ErrNoPermission if the worker takes no settings. It is not tried again when the
// connection is lost meanwhile.
func (c *Client) SetQuota(ctx context.Context, index int, session string, q smi.Quota) error {
	if err := q.Check(); err != nil {
		return err
	}
	return c.change(ctx, opQuota, index, &quotaRequest{session, q})
}

var _ smi.Limiter = (*Client)(nil)
