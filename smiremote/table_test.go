package smiremote

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// full has every field of a process.
func full() smi.Process {
	return smi.Process{
		Device: 1, PID: 1 << 31, Name: "a", VRAM: smi.Some(smi.Bytes(1<<64 - 2)), GTT: smi.Some(smi.Bytes(0)), HostMemory: smi.Some(smi.Bytes(3)),
		Busy: smi.Some(smi.Duration(1<<63 - 1)), SDMA: smi.Some(smi.Duration(5)), Evicted: smi.Some(smi.Duration(6)), GFXTime: smi.Some(smi.Duration(-7)),
		EncodeTime: smi.Some(smi.Duration(8)), CUOccupancy: smi.Some(9), Command: "b c", User: "d", InnerPID: 10, Origin: "e", Session: "f",
		Container: &smi.Container{ID: "g", Name: "h", PodUID: "i", Pod: "j", Namespace: "k"},
		Client:    &smi.Client{Address: "l", Host: "m", PID: 11, Executable: "n", User: "o", Container: "p", Pod: "q", Namespace: "r", Job: "s"},
	}
}

// The table has a column for every field that a process has, under its key.
func TestTableHasEveryField(t *testing.T) {
	p := full()
	var keys []string
	var walk func(v reflect.Value, prefix string)
	walk = func(v reflect.Value, prefix string) {
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if v.Field(i).IsZero() {
				t.Errorf("full has no %s", f.Name)
			}
			key, _, _ := strings.Cut(f.Tag.Get("msgpack"), ",")
			keys = append(keys, prefix+key)
			if f.Type.Kind() == reflect.Pointer {
				walk(v.Field(i).Elem(), prefix+key+".")
			}
		}
	}
	walk(reflect.ValueOf(p), "")
	for _, c := range columns {
		if !slices.Contains(keys, c.key) {
			t.Errorf("column %q is no field", c.key)
		}
	}
	for _, k := range keys {
		if !slices.ContainsFunc(columns, func(c struct {
			key string
			column
		}) bool {
			return c.key == k
		}) {
			t.Errorf("field %q has no column", k)
		}
	}
}

func TestTable(t *testing.T) {
	rows := []smi.Process{{Device: 0, PID: 1}, full(), {Device: 1, PID: 2, Client: &smi.Client{}, Container: &smi.Container{Name: "h"}}, {Device: 2}}
	for n := range rows {
		got, err := decodeTable(encodeTable(rows[:n]))
		if err != nil || !reflect.DeepEqual(got, append([]smi.Process{}, rows[:n]...)) {
			t.Errorf("%d rows: %+v, %v", n, got, err)
		}
	}
	small := encodeTable([]smi.Process{{PID: 1}, {PID: 2}})
	if want := []byte("\x82\xa4rows\x02\xa1p\x92\x01\x02"); !bytes.Equal(small, want) {
		t.Errorf("% x, want % x", small, want)
	}
}

func pairs(v ...any) []byte {
	var b bytes.Buffer
	e := msgpack.NewEncoder(&b)
	_ = e.EncodeMapLen(len(v) / 2)
	for _, x := range v {
		_ = e.Encode(x)
	}
	return b.Bytes()
}

func TestTableNonsense(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty":                {},
		"no map":               {0x01},
		"an empty map":         {0x80},
		"no rows":              pairs("p", []int{1}),
		"too many rows":        pairs("rows", maxRows+1),
		"too few values":       pairs("rows", 2, "p", []int{1}),
		"no array":             pairs("rows", 1, "p", 1),
		"negative pid":         pairs("rows", 1, "p", []int{-1}),
		"large pid":            pairs("rows", 1, "p", []int{1 << 32}),
		"large duration":       pairs("rows", 1, "b", []uint64{1 << 63}),
		"negative memory":      pairs("rows", 1, "v", []int{-1}),
		"text beyond list":     pairs("rows", 1, "n", []any{[]string{"a"}, []int{2}}),
		"more texts than rows": pairs("rows", 1, "n", []any{[]string{"a", "b"}, []int{1}}),
		"a text of numbers":    pairs("rows", 1, "n", []any{[]int{1}, []int{1}}),
		"no boolean":           pairs("rows", 1, "k", []int{7}),
		"truncated":            encodeTable([]smi.Process{full()})[:40],
		"one byte more":        append(encodeTable([]smi.Process{full()}), 0),
	} {
		if rows, err := decodeTable(b); !errors.Is(err, smi.ErrBadData) {
			t.Errorf("%s: %+v, %v", name, rows, err)
		}
	}
	rows, err := decodeTable(pairs("rows", 1, "future", []any{map[string]any{"x": nil}}, "p", []int{3}, "k.i", []any{[]string{"id"}, []int{1}}))
	if want := []smi.Process{{PID: 3}}; err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("unknown columns, and a field without its struct: %+v, %v", rows, err)
	}
}

func TestPackedIsTheSame(t *testing.T) {
	for _, s := range []*smi.Snapshot{
		{Time: smitest.Then, Devices: smitest.Machine(8, 64)}, goodSnapshot(), {Time: smitest.Then},
	} {
		plain, err1 := encodeSnapshot(s)
		small, err2 := packSnapshot(s)
		a, err3 := decodeSnapshot(plain)
		b, err4 := decodePacked(small)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("plain %+v\npacked %+v", a, b)
		}
		t.Logf("%d cards: %d bytes, packed %d", len(s.Devices), len(plain), len(small))
	}
}

// A snapshot of 8 cards with 64 processes each is less than 64 KiB on the wire.
func TestSize(t *testing.T) {
	b, err := packSnapshot(&smi.Snapshot{Time: smitest.Then, Devices: smitest.Machine(8, 64)})
	if err != nil || len(b) > 64<<10 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// One program's endless command line does not make a snapshot unreadable.
func TestLongCommand(t *testing.T) {
	s := goodSnapshot()
	s.Devices[0].Processes[1].Command = strings.Repeat("ä", 1<<20)
	for name, f := range map[string]func() (*smi.Snapshot, error){
		"plain":  func() (*smi.Snapshot, error) { b, _ := encodeSnapshot(s); return decodeSnapshot(b) },
		"packed": func() (*smi.Snapshot, error) { b, _ := packSnapshot(s); return decodePacked(b) },
	} {
		got, err := f()
		if err != nil {
			t.Fatal(name, err)
		}
		if c := got.Devices[0].Processes[1].Command; len(c) > maxText || !strings.HasSuffix(c, "ä…") {
			t.Errorf("%s: a command of %d bytes", name, len(c))
		}
	}
	if len(s.Devices[0].Processes[1].Command) != 2<<20 {
		t.Error("encoding changed the snapshot")
	}
}

func TestPackedNonsense(t *testing.T) {
	squeeze := func(b []byte) []byte { return compressor().EncodeAll(b, nil) }
	whole := func(snap, table []byte) []byte {
		return append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(snap))), snap...), table...)
	}
	snap := pack(t, &smi.Snapshot{Time: smitest.Then, Devices: []smi.DeviceSnapshot{{InfoErr: &smi.Failure{}, MetricsErr: &smi.Failure{}}}})
	good := whole(snap, encodeTable(nil))
	if _, err := decodePacked(squeeze(good)); err != nil {
		t.Fatal(err)
	}
	two := encodeTable([]smi.Process{{Device: 0, PID: 1}, {Device: 1, PID: 1}})
	for name, b := range map[string][]byte{
		"nothing":             {},
		"no zstd":             good,
		"cut off":             squeeze(good)[:20],
		"a bomb":              squeeze(make([]byte, 64<<20)),
		"no length":           squeeze([]byte{1, 2}),
		"a length too large":  squeeze(binary.LittleEndian.AppendUint32(nil, 1<<31)),
		"no table":            squeeze(whole(snap, nil)),
		"a card there is not": squeeze(whole(snap, two)),
		"a card twice":        squeeze(whole(pack(t, goodSnapshot()), encodeTable([]smi.Process{{Device: 1}, {Device: 0, PID: 1}, {Device: 1, PID: 1}}))),
	} {
		if s, err := decodePacked(b); !errors.Is(err, smi.ErrBadData) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add(encodeTable(nil))
	f.Add(encodeTable([]smi.Process{full(), {PID: 1}}))
	f.Add(pairs("rows", 1, "n", []any{[]string{"a"}, []int{2}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, err := decodeTable(b)
		if err != nil {
			if !errors.Is(err, smi.ErrBadData) {
				t.Fatal(err)
			}
			return
		}
		again, err := decodeTable(encodeTable(rows))
		if err != nil || !reflect.DeepEqual(again, rows) {
			t.Fatalf("%+v became %+v, %v", rows, again, err)
		}
	})
}

func FuzzPacked(f *testing.F) {
	s, _ := packSnapshot(goodSnapshot())
	f.Add(s)
	f.Add(compressor().EncodeAll(make([]byte, 1<<20), nil))
	u, _ := decompressor().DecodeAll(s, nil)
	f.Add(u)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, decode := range []func([]byte) (*smi.Snapshot, error){decodePacked, decodeUnpacked} {
			s, err := decode(b)
			if err != nil {
				if !errors.Is(err, smi.ErrBadData) {
					t.Fatal(err)
				}
				continue
			}
			if _, err := json.Marshal(s); err != nil {
				t.Fatal(err)
			}
		}
	})
}
