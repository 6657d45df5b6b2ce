package rows

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"unicode/utf8"
)

// Decode reads a record that Encode made. Its errors
// are ErrInvalid with a reason.
func Decode(record []byte) (*Batch, error) {
	n := len(record) - checksumSize
	if n < 2 || len(record) > MaxEncoded {
		return nil, fmt.Errorf("%w: %d bytes", ErrInvalid, len(record))
	}
	if record[0] != magic || record[1] != version {
		return nil, fmt.Errorf("%w: begins with %#x, version %d", ErrInvalid, record[0], record[1])
	}
	if crc32.Checksum(record[:n], castagnoli) != binary.LittleEndian.Uint32(record[n:]) {
		return nil, fmt.Errorf("%w: the checksum is wrong", ErrInvalid)
	}
	d := decoder{b: record[2:n]}
	b := d.batch()
	if d.bad || len(d.b) != 0 {
		return nil, fmt.Errorf("%w: it ends too early or too late", ErrInvalid)
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	return b, nil
}

// decoder reads from b until something is wrong.
type decoder struct {
	b     []byte
	bad   bool
	texts []string
	time  int64
}

func (d *decoder) fail() {
	d.bad, d.b = true, nil
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

// count is a number of things that take at least size bytes each.
func (d *decoder) count(limit, size int) int {
	n := d.uvarint()
	if n > uint64(limit) || n > uint64(len(d.b)/size) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.uvarint()
	if n >= uint64(len(d.texts)) {
		d.fail()
		return ""
	}
	return d.texts[n]
}

func (d *decoder) batch() *Batch {
	d.texts = make([]string, d.count(MaxEncoded, 1))
	for i := range d.texts {
		if d.bad {
			return nil
		}
		s := d.take(d.uvarint())
		if !utf8.Valid(s) {
			d.fail()
		}
		d.texts[i] = string(s)
	}
	b := &Batch{Tables: make([]Table, d.count(maxTables, 3))}
	cells := maxCells
	for i := range b.Tables {
		b.Tables[i] = d.table(&cells)
	}
	return b
}

func (d *decoder) table(cells *int) Table {
	t := Table{Name: d.text()}
	t.Columns = make([]Column, d.count(maxColumns, 2))
	for i := range t.Columns {
		t.Columns[i].Name = d.text()
		if k := d.take(1); k != nil {
			t.Columns[i].Type, t.Columns[i].Tag = Type(k[0]&^tagBit), k[0]&tagBit != 0
		}
	}
	// A null takes a bit here and 32 bytes in memory, so there is a limit of them.
	n := d.count(MaxRows, 1+(len(t.Columns)+7)/8)
	if *cells -= n * len(t.Columns); *cells < 0 {
		d.fail()
		return t
	}
	t.Rows = make([]Row, 0, n)
	for range n {
		if d.bad {
			return t
		}
		t.Rows = append(t.Rows, d.row(t.Columns))
	}
	return t
}

func (d *decoder) row(columns []Column) Row {
	d.time += d.varint()
	r := Row{Time: d.time, Values: make([]Value, len(columns))}
	nulls := d.take(uint64(len(columns)+7) / 8)
	for i, c := range columns {
		if d.bad {
			return r
		}
		if nulls[i/8]&(1<<(i%8)) == 0 {
			r.Values[i] = d.value(c.Type)
		}
	}
	return r
}

func (d *decoder) value(t Type) Value {
	v := Value{typ: t}
	switch t {
	case String:
		v.text = d.text()
	case Float:
		if b := d.take(8); b != nil {
			v.bits = binary.LittleEndian.Uint64(b)
		}
	case Int:
		v.bits = uint64(d.varint())
	case Uint:
		v.bits = d.uvarint()
	case Bool:
		if b := d.take(1); b != nil {
			if v.bits = uint64(b[0]); v.bits > 1 {
				d.fail()
			}
		}
	default:
		d.fail()
	}
	return v
}
