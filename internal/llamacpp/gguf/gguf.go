// Package gguf writes models in the file format that llama.cpp reads, GGUF version 3.
// It writes what a small model for tests needs and reads nothing.
//
// A file is, all integers little-endian:
//
//	"GGUF"  uint32 version  uint64 tensors  uint64 metadata entries
//	metadata:  string key, uint32 type, value          (one after the other)
//	tensors:   string name, uint32 dimensions, uint64 each (the one that is contiguous first), uint32 type, uint64 offset
//	padding to 32 bytes
//	data:      each tensor's, at its offset from here, padded to 32 bytes
//
// A string is a uint64 length and as many bytes. An array value is the uint32 type of its elements, a uint64 count and the elements.
package gguf

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

const (
	magic     = "GGUF"
	version   = 3
	alignment = 32 // what readers assume where the metadata does not say otherwise
)

// The types of metadata values.
const (
	typeUint32 = 4
	typeInt32  = 5
	typeFloat  = 6
	typeBool   = 7
	typeString = 8
	typeArray  = 9
)

// Entry is one fact about the model. Value is a uint32, float32, bool or string, or a slice of string, float32 or int32.
type Entry struct {
	Key   string
	Value any
}

// Tensor is a matrix or vector of the model.
type Tensor struct {
	Name   string
	Shape  []uint64 // how many elements each dimension has, the contiguous one first
	Type   Type
	Values []float32 // as many as Shape says
}

// Write writes a model.
func Write(to io.Writer, metadata []Entry, tensors []Tensor) error {
	w := &writer{to: bufio.NewWriter(to)}
	w.bytes([]byte(magic))
	w.uint32(version)
	w.uint64(uint64(len(tensors)))
	w.uint64(uint64(len(metadata)))
	for _, e := range metadata {
		w.string(e.Key)
		w.value(e.Value)
	}
	var at uint64
	data := make([][]byte, len(tensors))
	for i, t := range tensors {
		var err error
		if data[i], err = t.encode(); err != nil {
			return err
		}
		w.string(t.Name)
		w.uint32(uint32(len(t.Shape)))
		for _, n := range t.Shape {
			w.uint64(n)
		}
		w.uint32(uint32(t.Type))
		w.uint64(at)
		at = align(at + uint64(len(data[i])))
	}
	w.pad()
	for _, b := range data {
		w.bytes(b)
		w.pad()
	}
	if w.err != nil {
		return w.err
	}
	return w.to.Flush()
}

func align(n uint64) uint64 { return (n + alignment - 1) &^ (alignment - 1) }

// writer remembers its first error and where it is.
type writer struct {
	to  *bufio.Writer
	at  uint64
	err error
}

func (w *writer) bytes(b []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(b)
		w.at += uint64(len(b))
	}
}

func (w *writer) uint32(v uint32) { w.bytes(binary.LittleEndian.AppendUint32(nil, v)) }
func (w *writer) uint64(v uint64) { w.bytes(binary.LittleEndian.AppendUint64(nil, v)) }
func (w *writer) pad()            { w.bytes(make([]byte, align(w.at)-w.at)) }

func (w *writer) string(s string) {
	w.uint64(uint64(len(s)))
	w.bytes([]byte(s))
}

// array begins an array value.
func (w *writer) array(of uint32, n int) {
	w.uint32(typeArray)
	w.uint32(of)
	w.uint64(uint64(n))
}

// value writes a value behind its type.
func (w *writer) value(v any) {
	switch v := v.(type) {
	case uint32:
		w.uint32(typeUint32)
		w.uint32(v)
	case float32:
		w.uint32(typeFloat)
		w.uint32(math.Float32bits(v))
	case bool:
		w.uint32(typeBool)
		if v {
			w.bytes([]byte{1})
		} else {
			w.bytes([]byte{0})
		}
	case string:
		w.uint32(typeString)
		w.string(v)
	case []string:
		w.array(typeString, len(v))
		for _, s := range v {
			w.string(s)
		}
	case []float32:
		w.array(typeFloat, len(v))
		for _, f := range v {
			w.uint32(math.Float32bits(f))
		}
	case []int32:
		w.array(typeInt32, len(v))
		for _, i := range v {
			w.uint32(uint32(i))
		}
	default:
		if w.err == nil {
			w.err = fmt.Errorf("gguf: no metadata is a %T", v)
		}
	}
}
