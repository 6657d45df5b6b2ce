package smi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"github.com/vmihailenco/msgpack/v5"
)

// Opt is a value that a source may not have. The zero value is "not available".
type Opt[T any] struct {
	v  T
	ok bool
}

// Some is an available value.
func Some[T any](v T) Opt[T] { return Opt[T]{v: v, ok: true} }

// None is "not available"; the same as the zero value.
func None[T any]() Opt[T] { return Opt[T]{} }

// Get returns the value and whether there is one.
func (o Opt[T]) Get() (T, bool) { return o.v, o.ok }

// Or returns the value, or def when it is not available.
func (o Opt[T]) Or(def T) T {
	if o.ok {
		return o.v
	}
	return def
}

// Ok reports whether the value is available.
func (o Opt[T]) Ok() bool { return o.ok }

// IsZero reports "not available" (for the omitempty and omitzero of encoders).
func (o Opt[T]) IsZero() bool { return !o.ok }

// String is the value as fmt prints it, or "N/A".
func (o Opt[T]) String() string {
	if !o.ok {
		return "N/A"
	}
	return fmt.Sprint(o.v)
}

// MarshalJSON is the value, or null.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.ok {
		return []byte("null"), nil
	}
	return json.Marshal(o.v)
}

// UnmarshalJSON reads a value; null means not available.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	*o = Opt[T]{}
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	if err := json.Unmarshal(b, &o.v); err != nil {
		return err
	}
	o.ok = true
	return nil
}

var (
	_ msgpack.CustomEncoder = Opt[int]{}
	_ msgpack.CustomDecoder = (*Opt[int])(nil)
)

// EncodeMsgpack is the value, or nil.
func (o Opt[T]) EncodeMsgpack(e *msgpack.Encoder) error {
	if !o.ok {
		return e.EncodeNil()
	}
	return e.Encode(o.v)
}

// DecodeMsgpack reads a value; nil means not available.
func (o *Opt[T]) DecodeMsgpack(d *msgpack.Decoder) error {
	*o = Opt[T]{}
	c, err := d.PeekCode()
	if err != nil {
		return err
	}
	if c == 0xc0 { // nil
		return d.DecodeNil()
	}
	if err := d.Decode(&o.v); err != nil {
		return err
	}
	if v := reflect.ValueOf(&o.v).Elem(); v.CanFloat() && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)) {
		return Errorf(ErrBadData, "%v is no figure", v.Float()) // JSON could not carry it on
	}
	o.ok = true
	return nil
}
