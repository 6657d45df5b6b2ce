package json

import (
	"encoding/json"
	"io"
)

type (
	Decoder            = json.Decoder
	Delim              = json.Delim
	Encoder            = json.Encoder
	Marshaler          = json.Marshaler
	Number             = json.Number
	RawMessage         = json.RawMessage
	UnmarshalTypeError = json.UnmarshalTypeError
	Unmarshaler        = json.Unmarshaler
)

func Marshal(v any) ([]byte, error)      { return json.Marshal(v) }
func Unmarshal(data []byte, v any) error { return json.Unmarshal(data, v) }
func NewDecoder(r io.Reader) *Decoder    { return json.NewDecoder(r) }
func NewEncoder(w io.Writer) *Encoder    { return json.NewEncoder(w) }
