package hipremote

import (
	"context"

	"github.com/rocwire/rocwire/wire"
)

// dial connects as the configuration says.
func (c *Client) dial(opt wire.Options) (*wire.Client, error) {
	if err := c.cfg.Dialing.Apply(&opt); err != nil {
		return nil, err
	}
	return wire.Dial(context.Background(), opt)
}
