package smiremote

import (
	"bytes"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/rocwire/rocwire/smi"
)

// Bounds of a table of processes, all cards together.
const (
	maxRows          = 16 << 10
	maxTableElements = 1 << 20
)

// columns of a table of processes, in the order in which they are sent: whether a
// row has a struct comes before that struct's fields.
var columns = []struct {
	key string
	column
}{
	{"i", ints[int](func(p *smi.Process) *int { return &p.Device })},
	{"p", ints[uint32](func(p *smi.Process) *uint32 { return &p.PID })},
	{"n", texts(func(p *smi.Process) *string { return &p.Name })},
	{"v", opts[smi.Bytes](func(p *smi.Process) *smi.Opt[smi.Bytes] { return &p.VRAM })},
	{"g", opts[smi.Bytes](func(p *smi.Process) *smi.Opt[smi.Bytes] { return &p.GTT })},
	{"h", opts[smi.Bytes](func(p *smi.Process) *smi.Opt[smi.Bytes] { return &p.HostMemory })},
	{"b", opts[smi.Duration](func(p *smi.Process) *smi.Opt[smi.Duration] { return &p.Busy })},
	{"d", opts[smi.Duration](func(p *smi.Process) *smi.Opt[smi.Duration] { return &p.SDMA })},
	{"e", opts[smi.Duration](func(p *smi.Process) *smi.Opt[smi.Duration] { return &p.Evicted })},
	{"gt", opts[smi.Duration](func(p *smi.Process) *smi.Opt[smi.Duration] { return &p.GFXTime })},
	{"et", opts[smi.Duration](func(p *smi.Process) *smi.Opt[smi.Duration] { return &p.EncodeTime })},
	{"c", opts[int](func(p *smi.Process) *smi.Opt[int] { return &p.CUOccupancy })},
	{"x", texts(func(p *smi.Process) *string { return &p.Command })},
	{"u", texts(func(p *smi.Process) *string { return &p.User })},
	{"q", ints[uint32](func(p *smi.Process) *uint32 { return &p.InnerPID })},
	{"o", texts(func(p *smi.Process) *string { return &p.Origin })},
	{"s", texts(func(p *smi.Process) *string { return &p.Session })},

	{"k", structs[smi.Container](func(p *smi.Process) **smi.Container { return &p.Container })},
	{"k.i", inContainer(func(c *smi.Container) *string { return &c.ID })},
	{"k.n", inContainer(func(c *smi.Container) *string { return &c.Name })},
	{"k.u", inContainer(func(c *smi.Container) *string { return &c.PodUID })},
	{"k.p", inContainer(func(c *smi.Container) *string { return &c.Pod })},
	{"k.s", inContainer(func(c *smi.Container) *string { return &c.Namespace })},

	{"r", structs[smi.Client](func(p *smi.Process) **smi.Client { return &p.Client })},
	{"r.a", inClient(func(c *smi.Client) *string { return &c.Address })},
	{"r.h", inClient(func(c *smi.Client) *string { return &c.Host })},
	{"r.p", ints[uint32](func(p *smi.Process) *uint32 {
		if p.Client == nil {
			return nil
		}
		return &p.Client.PID
	})},
	{"r.x", inClient(func(c *smi.Client) *string { return &c.Executable })},
	{"r.u", inClient(func(c *smi.Client) *string { return &c.User })},
	{"r.c", inClient(func(c *smi.Client) *string { return &c.Container })},
	{"r.o", inClient(func(c *smi.Client) *string { return &c.Pod })},
	{"r.n", inClient(func(c *smi.Client) *string { return &c.Namespace })},
	{"r.j", inClient(func(c *smi.Client) *string { return &c.Job })},
}

func inContainer(at func(*smi.Container) *string) texts {
	return func(p *smi.Process) *string {
		if p.Container == nil {
			return nil
		}
		return at(p.Container)
	}
}

func inClient(at func(*smi.Client) *string) texts {
	return func(p *smi.Process) *string {
		if p.Client == nil {
			return nil
		}
		return at(p.Client)
	}
}

// encodeTable is a map of columns; those in which no row has anything are left out.
func encodeTable(rows []smi.Process) []byte {
	var b bytes.Buffer
	b.Grow(192 * len(rows)) // usual
	e := msgpack.NewEncoder(&b)
	used := make([]bool, len(columns))
	n := 1
	for i, c := range columns {
		if used[i] = c.used(rows); used[i] {
			n++
		}
	}
	// Writing to a buffer cannot fail.
	_ = e.EncodeMapLen(n)
	_ = e.EncodeString(rowsKey)
	_ = e.EncodeUint(uint64(len(rows)))
	for i, c := range columns {
		if used[i] {
			_ = e.EncodeString(c.key)
			c.put(e, rows)
		}
	}
	return b.Bytes()
}

// rowsKey is the first key of a table, whose value is the number of rows.
const rowsKey = "rows"

// decodeTable reads what encodeTable made, and maybe columns that it does not know.
func decodeTable(b []byte) ([]smi.Process, error) {
	if err := check(b, maxTableElements); err != nil {
		return nil, bad("table of processes: %w", err)
	}
	rows, err := readTable(msgpack.NewDecoder(bytes.NewReader(b)))
	if err != nil {
		return nil, bad("table of processes: %w", err)
	}
	return rows, nil
}

func readTable(d *msgpack.Decoder) ([]smi.Process, error) {
	left, err := d.DecodeMapLen()
	if err != nil {
		return nil, err
	}
	key, err := d.DecodeString()
	if err != nil || left < 1 || key != rowsKey {
		return nil, fmt.Errorf("it does not begin with the number of rows (%w)", err)
	}
	n, err := d.DecodeUint64()
	if err != nil || n > maxRows {
		return nil, fmt.Errorf("%d rows (%w)", n, err)
	}
	rows := make([]smi.Process, n)
	for ; left > 1; left-- {
		if key, err = d.DecodeString(); err != nil {
			return nil, err
		}
		known := false
		for _, c := range columns {
			if c.key == key {
				known, err = true, c.get(d, rows)
				break
			}
		}
		if !known {
			err = d.Skip()
		}
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", oneLine(key), err)
		}
	}
	return rows, nil
}
