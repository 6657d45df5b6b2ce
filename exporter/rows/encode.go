package rows

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

const (
	magic   = 0x52 // 'R'
	version = 1

	checksumSize = 4

	// MaxEncoded is how long a record may be, in bytes.
	MaxEncoded = 64 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode makes a record of the batch.
//
//	u8 'R', u8 version
//	uvarint texts, each: uvarint length, bytes
//	uvarint tables, each:
//	  uvarint name (a text's number)
//	  uvarint columns, each: uvarint name, u8 type, plus 0x80 if it is a tag
//	  uvarint rows, each:
//	    varint milliseconds since the row before (the first of the record: since 1970)
//	    a bit for each column, 1 for null, the first column lowest
//	    the values that are not null: uvarint text's number | 8 bytes of a float |
//	    varint | uvarint | u8 0 or 1
//	u32 CRC-32C of everything before
//
// Numbers of fixed size are little-endian. It fails with ErrInvalid for a batch that
// breaks a rule.
func (b *Batch) Encode() ([]byte, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	e := encoder{texts: map[string]uint64{}}
	e.body = binary.AppendUvarint(e.body, uint64(len(b.Tables)))
	for i := range b.Tables {
		e.table(&b.Tables[i])
	}
	out := []byte{magic, version}
	out = binary.AppendUvarint(out, uint64(len(e.list)))
	for _, s := range e.list {
		out = binary.AppendUvarint(out, uint64(len(s)))
		out = append(out, s...)
	}
	out = append(out, e.body...)
	if len(out) > MaxEncoded-checksumSize {
		return nil, fmt.Errorf("%w: %d bytes", ErrInvalid, len(out))
	}
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli)), nil
}

type encoder struct {
	body  []byte
	list  []string // in order of first use
	texts map[string]uint64
	time  int64 // of the row before
}

func (e *encoder) text(s string) {
	n, ok := e.texts[s]
	if !ok {
		n = uint64(len(e.list))
		e.texts[s] = n
		e.list = append(e.list, s)
	}
	e.body = binary.AppendUvarint(e.body, n)
}

func (e *encoder) table(t *Table) {
	e.text(t.Name)
	e.body = binary.AppendUvarint(e.body, uint64(len(t.Columns)))
	for _, c := range t.Columns {
		e.text(c.Name)
		kind := byte(c.Type)
		if c.Tag {
			kind |= tagBit
		}
		e.body = append(e.body, kind)
	}
	e.body = binary.AppendUvarint(e.body, uint64(len(t.Rows)))
	for i := range t.Rows {
		e.row(&t.Rows[i])
	}
}

func (e *encoder) row(r *Row) {
	e.body = binary.AppendVarint(e.body, r.Time-e.time)
	e.time = r.Time
	nulls := len(e.body)
	e.body = append(e.body, make([]byte, (len(r.Values)+7)/8)...)
	for i, v := range r.Values {
		switch v.typ {
		case String:
			e.text(v.text)
		case Float:
			e.body = binary.LittleEndian.AppendUint64(e.body, v.bits)
		case Int:
			e.body = binary.AppendVarint(e.body, v.Int())
		case Uint:
			e.body = binary.AppendUvarint(e.body, v.bits)
		case Bool:
			e.body = append(e.body, byte(v.bits))
		default:
			e.body[nulls+i/8] |= 1 << (i % 8)
		}
	}
}

// tagBit marks a tag in a column's type.
const tagBit = 0x80
