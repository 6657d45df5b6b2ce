package rows

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter"
)

// sample has every type, null and not.
func sample() *Batch {
	columns := []Column{{"host", String, true}, {"pod", String, true}, {"f", Float, false}, {"i", Int, false}, {"u", Uint, false}, {"b", Bool, false}, {"s", String, false},
		{"f2", Float, false}, {"i2", Int, false}}
	return &Batch{Tables: []Table{
		{Name: "one", Columns: columns, Rows: []Row{
			{1_790_000_000_000, []Value{textOf("h"), textOf("p"), floatOf(-0.5), intOf(math.MinInt64), uintOf(math.MaxUint64), boolOf(true), textOf("h"), floatOf(0), intOf(0)}},
			{1_789_999_999_999, []Value{textOf("h"), {}, {}, {}, {}, boolOf(false), {}, {}, {}}},
			{0, make([]Value, len(columns))},
		}},
		{Name: "none", Columns: columns[2:3], Rows: []Row{}},
	}}
}

func TestCodec(t *testing.T) {
	b := sample()
	record, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(record)
	if err != nil || !reflect.DeepEqual(got, b) {
		t.Errorf("%v\n%+v, want\n%+v", err, got, b)
	}
	for i := range record { // a bit that was lost on disk
		bad := bytes.Clone(record)
		bad[i] ^= 4
		if _, err := Decode(bad); !errors.Is(err, ErrInvalid) {
			t.Fatalf("byte %d: %v", i, err)
		}
		if _, err := Decode(record[:i]); !errors.Is(err, ErrInvalid) {
			t.Fatalf("%d bytes: %v", i, err)
		}
	}
}

// Records of this version wait on disks and must stay readable.
func TestVersion1(t *testing.T) {
	const stored = "52010d036f6e6504686f737403706f640166016901750162017302663202693201680170046e6f6e65020009018102810302040305040605070108020903" +
		"0380b083c5986800000a0b000000000000e0bfffffffffffffffffff01ffffffffffffffffff01010a00000000000000000001de010a00fdaf83c59868ff010c01030200d4256fe6"
	record, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(record); got != stored {
		t.Errorf("a batch is encoded as %s", got)
	}
	old, err := hex.DecodeString(stored)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := Decode(old); err != nil || !reflect.DeepEqual(b, sample()) {
		t.Errorf("%+v %v", b, err)
	}
}

func TestRefused(t *testing.T) {
	for name, spoil := range map[string]func(*Batch){
		"name of a table":       func(b *Batch) { b.Tables[0].Name = "a b" },
		"two tables":            func(b *Batch) { b.Tables[1].Name = "one" },
		"no columns":            func(b *Batch) { b.Tables[1].Columns = nil },
		"name of a column":      func(b *Batch) { b.Tables[0].Columns[0].Name = "Host" },
		"two columns":           func(b *Batch) { b.Tables[0].Columns[1].Name = "host" },
		"a tag that is no text": func(b *Batch) { b.Tables[0].Columns[0].Type = Int },
		"a tag after a field":   func(b *Batch) { b.Tables[0].Columns[6].Tag = true },
		"type":                  func(b *Batch) { b.Tables[0].Columns[2].Type = 9 },
		"value's type":          func(b *Batch) { b.Tables[0].Rows[0].Values[2] = intOf(1) },
		"too few values":        func(b *Batch) { b.Tables[0].Rows[0].Values = nil },
		"time":                  func(b *Batch) { b.Tables[0].Rows[0].Time = -1 },
		"empty text":            func(b *Batch) { b.Tables[0].Rows[0].Values[0].text = "" },
		"long text":             func(b *Batch) { b.Tables[0].Rows[0].Values[0].text = strings.Repeat("x", MaxText+1) },
		"not UTF-8":             func(b *Batch) { b.Tables[0].Rows[0].Values[0].text = "\xff" },
		"NaN":                   func(b *Batch) { b.Tables[0].Rows[0].Values[2].bits = math.Float64bits(math.NaN()) },
		"too many rows":         func(b *Batch) { b.Tables[1].Rows = slices.Repeat([]Row{{0, make([]Value, 1)}}, MaxRows) },
		"too many values": func(b *Batch) {
			b.Tables = append(b.Tables, Table{Name: "wide", Rows: slices.Repeat([]Row{{0, make([]Value, 64)}}, MaxRows/2)})
			for _, c := range "abcdefghijklmnopqrstuvwxyz_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ+" {
				b.Tables[2].Columns = append(b.Tables[2].Columns, Column{Name: "c" + hex.EncodeToString([]byte(string(c))), Type: Int})
			}
		},
	} {
		b := sample()
		b.Tables[0].Columns = slices.Clone(b.Tables[0].Columns)
		spoil(b)
		if _, err := b.Encode(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A record takes no more memory than its size and the limits of a batch allow, and what
// is accepted is what would be encoded.
func FuzzDecode(f *testing.F) {
	add := func(b *Batch) {
		record, err := b.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(record[:len(record)-checksumSize])
	}
	add(sample())
	add(&Batch{})
	m := newMaker(Options{})
	add(m.Make(&exporter.Reading{Time: begun, Cards: []exporter.Card{fullCard(0, busy(1, "a", 1))},
		Calls: []rpcstats.CallTotal{total("hipMalloc", begun, 5, 1, rpcstats.Bucket{Index: 1, Count: 1})}}))
	f.Fuzz(func(t *testing.T, body []byte) {
		// The checksum keeps nobody out; without one, no mutation would get anywhere.
		record := binary.LittleEndian.AppendUint32(bytes.Clone(body), crc32.Checksum(body, castagnoli))
		b, err := Decode(record)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		again, err := b.Encode()
		if err != nil {
			t.Fatalf("accepted, but: %v", err)
		}
		c, err := Decode(again)
		if err != nil || !reflect.DeepEqual(b, c) {
			t.Fatalf("%v: %+v, then %+v", err, b, c)
		}
	})
}
