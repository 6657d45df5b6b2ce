package smiremote

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
)

// opNames say what an operation is about, for people.
var opNames = map[uint16]string{
	opSnapshot: "snapshots", opDevices: "cards", opInfo: "what a card is", opMetrics: "metrics", opProcesses: "processes",
	opSessions: "sessions", opCalls: "calls", opFirmware: "firmware", opECC: "ECC", opBadPages: "bad pages", opXGMI: "XGMI",
	opPartitions: "partitions", opTopology: "the topology", opServer: "itself", opSet: "settings", opInject: "faults",
	opKill: "how to end a session", opPacked: "packed snapshots", opSubscribe: "events", opNext: "events", opUnsubscribe: "events",
	opQuota: "quotas", opSlowCalls: "slow calls", opIssue: "tokens", opRevoke: "tokens", opTokens: "tokens",
}

func indexArg(index int) ([]byte, error) {
	if int(int32(index)) != index {
		return nil, smi.Errorf(smi.ErrNotFound, "no GPU %d", index)
	}
	return binary.LittleEndian.AppendUint32(nil, uint32(int32(index))), nil
}

// question asks and decodes.
func question[T any](ctx context.Context, c *Client, op uint16, args []byte, decode func([]byte) (T, error)) (T, error) {
	b, err := c.ask(ctx, op, args)
	if err != nil {
		var none T
		return none, err
	}
	return decode(b)
}

func cardQuestion[T any](ctx context.Context, c *Client, op uint16, index int, decode func([]byte, int) (T, error)) (T, error) {
	args, err := indexArg(index)
	if err != nil {
		var none T
		return none, err
	}
	return question(ctx, c, op, args, func(b []byte) (T, error) { return decode(b, index) })
}

// Devices implements smi.Source.
func (c *Client) Devices(ctx context.Context) ([]smi.Device, error) {
	return question(ctx, c, opDevices, nil, decodeDevices)
}

// Info implements smi.Source.
func (c *Client) Info(ctx context.Context, index int) (*smi.Info, error) {
	return cardQuestion(ctx, c, opInfo, index, decodeInfo)
}

// Metrics implements smi.Source.
func (c *Client) Metrics(ctx context.Context, index int) (*smi.Metrics, error) {
	return cardQuestion(ctx, c, opMetrics, index, decodeMetrics)
}

// Processes implements smi.Source.
func (c *Client) Processes(ctx context.Context, index int) ([]smi.Process, error) {
	return cardQuestion(ctx, c, opProcesses, index, decodeProcesses)
}

// Firmware implements smi.Source.
func (c *Client) Firmware(ctx context.Context, index int) ([]smi.Firmware, error) {
	return cardQuestion(ctx, c, opFirmware, index, decodeFirmware)
}

// ECC implements smi.Source.
func (c *Client) ECC(ctx context.Context, index int) (*smi.ECC, error) {
	return cardQuestion(ctx, c, opECC, index, decodeECC)
}

// BadPages implements smi.Source.
func (c *Client) BadPages(ctx context.Context, index int) ([]smi.BadPage, error) {
	return cardQuestion(ctx, c, opBadPages, index, decodeBadPages)
}

// XGMI implements smi.Source.
func (c *Client) XGMI(ctx context.Context, index int) (*smi.XGMI, error) {
	return cardQuestion(ctx, c, opXGMI, index, decodeXGMI)
}

// Partitions implements smi.Source.
func (c *Client) Partitions(ctx context.Context, index int) (*smi.Partitions, error) {
	return cardQuestion(ctx, c, opPartitions, index, decodePartitions)
}

// Topology implements smi.Source.
func (c *Client) Topology(ctx context.Context) (*smi.Topology, error) {
	return question(ctx, c, opTopology, nil, decodeTopology)
}

// Set implements smi.Source. A worker that takes no settings answers
// ErrNoPermission. It is not tried again when the connection is lost meanwhile.
func (c *Client) Set(ctx context.Context, index int, s smi.Setting) error {
	if err := s.Check(); err != nil {
		return err
	}
	return c.change(ctx, opSet, index, &s)
}

// Inject implements smi.Injector. Cards that are not simulated answer
// ErrNotSupported.
func (c *Client) Inject(ctx context.Context, index int, f smi.Fault) error {
	return c.change(ctx, opInject, index, &f)
}

func (c *Client) change(ctx context.Context, op uint16, index int, v any) error {
	args, err := indexArg(index)
	if err != nil {
		return err
	}
	b, err := msgpack.Marshal(v)
	if err != nil {
		return smi.Errorf(smi.ErrInvalid, "%w", err)
	}
	if args = append(args, b...); len(args) > maxRequest {
		return smi.Errorf(smi.ErrInvalid, "a request of %d bytes", len(args))
	}
	_, err = c.ask(ctx, op, args)
	return err
}

// Snapshot implements smi.Snapshotter.
func (c *Client) Snapshot(ctx context.Context) (*smi.Snapshot, error) {
	conn, _, err := c.connection(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	plain := c.plain == conn
	c.mu.Unlock()
	if !plain {
		s, err := question(ctx, c, opPacked, nil, decodePacked)
		if !errors.Is(err, smi.ErrNotSupported) {
			return s, err
		}
		c.mu.Lock()
		c.plain = conn
		c.mu.Unlock()
	}
	return question(ctx, c, opSnapshot, nil, decodeSnapshot)
}

// Server tells what the worker is and what it lets this client do. Of a worker that
// is too old to tell, only version and backend are known.
func (c *Client) Server(ctx context.Context) (*ServerInfo, error) {
	i, err := question(ctx, c, opServer, nil, decodeServer)
	if err != nil && !errors.Is(err, smi.ErrNotSupported) {
		return nil, err
	}
	if i == nil {
		i = &ServerInfo{}
	}
	conn, _, err := c.connection(ctx)
	if err != nil {
		return nil, err
	}
	if w := conn.Welcome(); i.Version == "" {
		i.Version = w.Version
	}
	if w := conn.Welcome(); i.Backend == "" {
		i.Backend = w.Backend
	}
	return i, nil
}

// Sessions lists the worker's clients.
func (c *Client) Sessions(ctx context.Context) (*SessionList, error) {
	return question(ctx, c, opSessions, nil, decodeSessions)
}

// KillSession ends a session of the worker: ErrNotFound if there is none of that id,
// ErrNoPermission if the worker does not take that from this client.
func (c *Client) KillSession(ctx context.Context, id string) error {
	if len(id) > maxRequest {
		return smi.Errorf(smi.ErrNotFound, "there is no such session")
	}
	_, err := c.ask(ctx, opKill, []byte(id))
	return err
}

// Calls tells how long the calls of the worker's clients took since it started.
func (c *Client) Calls(ctx context.Context) ([]rpcstats.CallTotal, error) {
	return question(ctx, c, opCalls, nil, decodeCalls)
}
