package smiremote

import (
	"fmt"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/rocwire/rocwire/smi"
)

// A column carries one field of all rows of a table as one MessagePack value. Writing
// into memory cannot fail, so put has no error.
type column interface {
	used(rows []smi.Process) bool // some row has something
	put(e *msgpack.Encoder, rows []smi.Process)
	get(d *msgpack.Decoder, rows []smi.Process) error
}

type integer interface {
	~int | ~int64 | ~uint32 | ~uint64
}

// ints finds an integer of which 0 is "nothing", nil in a row without the struct it
// is in. The column is an array of integers.
type ints[T integer] func(*smi.Process) *T

func (at ints[T]) used(rows []smi.Process) bool {
	for i := range rows {
		if p := at(&rows[i]); p != nil && *p != 0 {
			return true
		}
	}
	return false
}

func (at ints[T]) put(e *msgpack.Encoder, rows []smi.Process) {
	_ = e.EncodeArrayLen(len(rows))
	for i := range rows {
		var v T
		if p := at(&rows[i]); p != nil {
			v = *p
		}
		putInt(e, v)
	}
}

func (at ints[T]) get(d *msgpack.Decoder, rows []smi.Process) error {
	if err := array(d, len(rows)); err != nil {
		return err
	}
	for i := range rows {
		v, err := getInt[T](d)
		if err != nil {
			return err
		}
		if p := at(&rows[i]); p != nil {
			*p = v
		}
	}
	return nil
}

// opts finds an integer that may be missing. The column is an array of integers and
// nils.
type opts[T integer] func(*smi.Process) *smi.Opt[T]

func (at opts[T]) used(rows []smi.Process) bool {
	for i := range rows {
		if at(&rows[i]).Ok() {
			return true
		}
	}
	return false
}

func (at opts[T]) put(e *msgpack.Encoder, rows []smi.Process) {
	_ = e.EncodeArrayLen(len(rows))
	for i := range rows {
		if v, ok := at(&rows[i]).Get(); ok {
			putInt(e, v)
		} else {
			_ = e.EncodeNil()
		}
	}
}

func (at opts[T]) get(d *msgpack.Decoder, rows []smi.Process) error {
	if err := array(d, len(rows)); err != nil {
		return err
	}
	for i := range rows {
		if c, err := d.PeekCode(); err != nil {
			return err
		} else if c == 0xc0 {
			if err := d.DecodeNil(); err != nil {
				return err
			}
			continue
		}
		v, err := getInt[T](d)
		if err != nil {
			return err
		}
		*at(&rows[i]) = smi.Some(v)
	}
	return nil
}

// structs finds the pointer to a struct. The column is an array of booleans that say
// which rows have one; its fields are columns of their own.
type structs[T any] func(*smi.Process) **T

func (at structs[T]) used(rows []smi.Process) bool {
	for i := range rows {
		if *at(&rows[i]) != nil {
			return true
		}
	}
	return false
}

func (at structs[T]) put(e *msgpack.Encoder, rows []smi.Process) {
	_ = e.EncodeArrayLen(len(rows))
	for i := range rows {
		_ = e.EncodeBool(*at(&rows[i]) != nil)
	}
}

func (at structs[T]) get(d *msgpack.Decoder, rows []smi.Process) error {
	if err := array(d, len(rows)); err != nil {
		return err
	}
	for i := range rows {
		has, err := d.DecodeBool()
		if err != nil {
			return err
		}
		if p := at(&rows[i]); has && *p == nil {
			*p = new(T)
		}
	}
	return nil
}

// texts finds a text, nil in a row without the struct it is in. The column is an
// array of two: the different texts, and for each row the number of its text, 1 being
// the first one and 0 the empty text.
type texts func(*smi.Process) *string

func (at texts) used(rows []smi.Process) bool {
	for i := range rows {
		if p := at(&rows[i]); p != nil && *p != "" {
			return true
		}
	}
	return false
}

func (at texts) put(e *msgpack.Encoder, rows []smi.Process) {
	numbers := make(map[string]uint64, len(rows)/4)
	list := make([]string, 0, len(rows))
	of := make([]uint64, len(rows))
	for i := range rows {
		p := at(&rows[i])
		if p == nil || *p == "" {
			continue
		}
		if i > 0 && of[i-1] > 0 && list[of[i-1]-1] == *p { // as in the row before
			of[i] = of[i-1]
			continue
		}
		n, there := numbers[*p]
		if !there {
			list = append(list, *p)
			n = uint64(len(list))
			numbers[*p] = n
		}
		of[i] = n
	}
	_ = e.EncodeArrayLen(2)
	_ = e.EncodeArrayLen(len(list))
	for _, s := range list {
		_ = e.EncodeString(s)
	}
	_ = e.EncodeArrayLen(len(rows))
	for _, n := range of {
		_ = e.EncodeUint(n)
	}
}

func (at texts) get(d *msgpack.Decoder, rows []smi.Process) error {
	if err := array(d, 2); err != nil {
		return err
	}
	n, err := d.DecodeArrayLen()
	if err != nil || n < 0 || n > len(rows) {
		return fmt.Errorf("%d texts for %d rows (%w)", n, len(rows), err)
	}
	list := make([]string, 1+n)
	for i := range n {
		if list[1+i], err = d.DecodeString(); err != nil {
			return err
		}
	}
	if err := array(d, len(rows)); err != nil {
		return err
	}
	for i := range rows {
		k, err := getInt[uint32](d)
		if err != nil {
			return err
		}
		if k >= uint32(len(list)) {
			return fmt.Errorf("text %d of %d", k, n)
		}
		if p := at(&rows[i]); p != nil {
			*p = list[k]
		}
	}
	return nil
}

// array reads the length of an array that must have n elements.
func array(d *msgpack.Decoder, n int) error {
	got, err := d.DecodeArrayLen()
	if err == nil && got != n {
		err = fmt.Errorf("%d values instead of %d", got, n)
	}
	return err
}

func putInt[T integer](e *msgpack.Encoder, v T) {
	if v < 0 {
		_ = e.EncodeInt(int64(v))
	} else {
		_ = e.EncodeUint(uint64(v))
	}
}

// getInt refuses what T cannot hold.
func getInt[T integer](d *msgpack.Decoder) (T, error) {
	c, err := d.PeekCode()
	if err != nil {
		return 0, err
	}
	if c >= 0xe0 || c >= 0xd0 && c <= 0xd3 { // may be negative
		v, err := d.DecodeInt64()
		if err == nil && (int64(T(v)) != v || (T(v) < 0) != (v < 0)) {
			err = fmt.Errorf("%d is out of range", v)
		}
		return T(v), err
	}
	v, err := d.DecodeUint64()
	if err == nil && (uint64(T(v)) != v || T(v) < 0) {
		err = fmt.Errorf("%d is out of range", v)
	}
	return T(v), err
}
