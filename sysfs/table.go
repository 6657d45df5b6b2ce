package sysfs

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/smi"
)

// table is a gpu_metrics file: what the card's power management firmware measured,
// as the driver hands it on. Its forms are the structures gpu_metrics_v* of the
// kernel's kgd_pp_interface.h, little endian.
type table struct {
	format, content uint8
	data            []byte
	at              [fieldCount]place
}

// place is where a field stands in a table; width 0 is a field that it has not.
type place struct {
	offset int
	width  int // bytes of one value
	count  int // values beside each other
	stride int // bytes from one partition's values to the next one's
	parts  int // partitions; 1 for a field that is not of a partition
}

// headerSize is the size of structure_size (16 bits), format_revision and
// content_revision (8 bits each), with which every table begins.
const headerSize = 4

// parseTable finds the fields of a table. The size that the table says it has must
// be that of its version and all of it must be there. A version that is not known
// is ErrNotSupported. The table refers to data.
func parseTable(data []byte) (*table, error) {
	if len(data) < headerSize {
		return nil, smi.Errorf(smi.ErrBadData, "a gpu_metrics table of %d bytes has no header", len(data))
	}
	size := int(binary.LittleEndian.Uint16(data))
	t := &table{format: data[2], content: data[3]}
	if size > len(data) {
		return nil, smi.Errorf(smi.ErrBadData, "gpu_metrics v%d.%d says %d bytes, but there are %d", t.format, t.content, size, len(data))
	}
	t.data = data[:size]
	if t.format == 1 && t.content == 9 {
		return t, t.parseAttributes()
	}
	known := false
	for _, l := range layouts {
		if l.format != t.format || l.content != t.content {
			continue
		}
		known = true
		if l.size == size {
			t.at = l.at
			return t, nil
		}
	}
	if known {
		return nil, smi.Errorf(smi.ErrBadData, "gpu_metrics v%d.%d cannot have %d bytes", t.format, t.content, size)
	}
	return nil, smi.Errorf(smi.ErrNotSupported, "gpu_metrics v%d.%d is not known", t.format, t.content)
}

// has reports whether a table of this version has a field.
func (t *table) has(f field) bool { return t != nil && t.at[f].width != 0 }

// count is how many values a field has in one partition.
func (t *table) count(f field) int {
	if t == nil {
		return 0
	}
	return t.at[f].count
}

// get is a field's value; a value with all bits set is not there.
func (t *table) get(f field) (uint64, bool) { return t.part(f, 0, 0) }

// index is one of a field's values.
func (t *table) index(f field, i int) (uint64, bool) { return t.part(f, 0, i) }

// part is one of the values that a field has for a partition.
func (t *table) part(f field, part, i int) (uint64, bool) {
	if t == nil {
		return 0, false
	}
	p := &t.at[f]
	if p.width == 0 || i < 0 || i >= p.count || part < 0 || part >= p.parts {
		return 0, false
	}
	off := p.offset + part*p.stride + i*p.width
	if off < 0 || off+p.width > len(t.data) {
		return 0, false
	}
	b := t.data[off:]
	switch p.width {
	case 1:
		return uint64(b[0]), b[0] != 0xff
	case 2:
		v := binary.LittleEndian.Uint16(b)
		return uint64(v), v != 0xffff
	case 4:
		v := binary.LittleEndian.Uint32(b)
		return uint64(v), v != 0xffffffff
	case 8:
		v := binary.LittleEndian.Uint64(b)
		return v, v != 0xffffffffffffffff
	}
	return 0, false
}

// float is get as a floating point number.
func (t *table) float(f field) (float64, bool) {
	v, ok := t.get(f)
	return float64(v), ok
}
