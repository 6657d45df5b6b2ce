package smiremote

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
)

// Events implements smi.Source. Several may listen at once. Who is slow misses
// events, which an event of kind smi.EventMissed tells, and slows down nobody. When
// the connection is lost it is made again at once, with an EventMissed in between;
// if that fails, so does Events.
func (c *Client) Events(ctx context.Context, each func(smi.Event)) error {
	for again := false; ; again = true {
		conn, _, err := c.connection(ctx)
		if err != nil {
			return err
		}
		id, err := c.subscribe(ctx, conn)
		if err == nil {
			if again {
				each(smi.Missed(time.Now().UTC(), 0))
			}
			err = c.listen(ctx, conn, id, each)
		} else if again || !errors.Is(err, wire.ErrLost) {
			return err
		}
		if !errors.Is(err, wire.ErrLost) {
			return err
		}
	}
}

func (c *Client) subscribe(ctx context.Context, conn *wire.Client) (uint32, error) {
	b, err := c.askOn(ctx, conn, opSubscribe, nil)
	if err != nil {
		return 0, err
	}
	return decodeSubscription(b)
}

// listen hands over a subscription's events until it ends.
func (c *Client) listen(ctx context.Context, conn *wire.Client, id uint32, each func(smi.Event)) error {
	args := binary.LittleEndian.AppendUint32(nil, id)
	// What it answers does not matter: either the subscription is gone or the connection.
	defer func() { _ = conn.Post(opUnsubscribe, args, nil); _ = conn.Flush() }()
	for {
		b, err := c.askOn(ctx, conn, opNext, args)
		if err != nil {
			return err
		}
		events, err := decodeEvents(b)
		if err != nil {
			return err
		}
		for _, e := range events {
			if err := ctx.Err(); err != nil {
				return err
			}
			each(e)
		}
	}
}
