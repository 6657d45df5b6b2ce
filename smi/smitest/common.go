package smitest

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/rocwire/rocwire/smi"
)

// questions are all that can be asked about a card. An answer is a pointer to a
// struct, or a list.
var questions = map[string]func(src smi.Source, ctx context.Context, index int) (any, error){
	"Info":       func(s smi.Source, ctx context.Context, i int) (any, error) { return s.Info(ctx, i) },
	"Metrics":    func(s smi.Source, ctx context.Context, i int) (any, error) { return s.Metrics(ctx, i) },
	"Processes":  func(s smi.Source, ctx context.Context, i int) (any, error) { return s.Processes(ctx, i) },
	"Firmware":   func(s smi.Source, ctx context.Context, i int) (any, error) { return s.Firmware(ctx, i) },
	"ECC":        func(s smi.Source, ctx context.Context, i int) (any, error) { return s.ECC(ctx, i) },
	"BadPages":   func(s smi.Source, ctx context.Context, i int) (any, error) { return s.BadPages(ctx, i) },
	"XGMI":       func(s smi.Source, ctx context.Context, i int) (any, error) { return s.XGMI(ctx, i) },
	"Partitions": func(s smi.Source, ctx context.Context, i int) (any, error) { return s.Partitions(ctx, i) },
}

// general has the questions that are about no card, with an index that is not used.
func general() map[string]func(src smi.Source, ctx context.Context, index int) (any, error) {
	all := map[string]func(src smi.Source, ctx context.Context, index int) (any, error){
		"Devices":  func(s smi.Source, ctx context.Context, _ int) (any, error) { return s.Devices(ctx) },
		"Topology": func(s smi.Source, ctx context.Context, _ int) (any, error) { return s.Topology(ctx) },
	}
	for name, q := range questions {
		all[name] = q
	}
	return all
}

func testBadIndex(t *testing.T, src smi.Source) {
	devices, err := src.Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, q := range questions {
		_, first := q(src, t.Context(), 0)
		for _, i := range []int{-1, len(devices), len(devices) + 1, math.MaxInt32, math.MinInt32} {
			_, err := q(src, t.Context(), i)
			if errors.Is(first, smi.ErrNotSupported) && errors.Is(err, smi.ErrNotSupported) {
				continue // it does not know the question at all
			}
			if !errors.Is(err, smi.ErrNotFound) {
				t.Errorf("%s(%d) = %v, want ErrNotFound", name, i, err)
			}
		}
	}
}

// A cancelled question ends; it may still have been answered.
func testCancelled(t *testing.T, src smi.Source) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, q := range general() {
		_, err := q(src, ctx, 0)
		if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, smi.ErrNotSupported) {
			t.Errorf("%s with a cancelled context: %v", name, err)
		}
	}
	if _, err := src.Devices(t.Context()); err != nil {
		t.Errorf("after a cancelled question: %v", err)
	}
}

// Whoever scribbles over an answer must not change the next one.
func testOwnership(t *testing.T, src smi.Source) {
	for name, q := range general() {
		v, err := q(src, t.Context(), 0)
		if err != nil {
			continue
		}
		scribble(reflect.ValueOf(v))
		again, err := q(src, t.Context(), 0)
		if err != nil {
			t.Errorf("%s after scribbling: %v", name, err)
			continue
		}
		b, err := json.Marshal(again)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if found := scribbled(b); found != "" {
			t.Errorf("scribbling over the answer of %s reached the source: %s", name, b)
		}
	}
	snap, err := smi.TakeSnapshot(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	scribble(reflect.ValueOf(snap))
	again, err := smi.TakeSnapshot(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := json.Marshal(again); scribbled(b) != "" {
		t.Errorf("scribbling over a snapshot reached the source: %s", b)
	}
}

const graffito = "smitest was here"

// scribble writes into every text and number it can reach.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				scribble(v.Field(i))
			}
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(graffito)
		}
	}
}

// scribbled finds what scribble wrote.
func scribbled(b []byte) string {
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		return err.Error()
	}
	var find func(v any) string
	find = func(v any) string {
		switch v := v.(type) {
		case string:
			if v == graffito {
				return v
			}
		case []any:
			for _, e := range v {
				if s := find(e); s != "" {
					return s
				}
			}
		case map[string]any:
			for _, e := range v {
				if s := find(e); s != "" {
					return s
				}
			}
		}
		return ""
	}
	return find(tree)
}

// JSON and MessagePack carry every answer without a loss.
func testEncodings(t *testing.T, src smi.Source) {
	ctx := t.Context()
	snap, err := smi.TakeSnapshot(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	snap.Time = snap.Time.UTC()
	for i := range snap.Devices {
		if m := snap.Devices[i].Metrics; m != nil {
			m.Time = m.Time.UTC()
		}
	}
	encodings(t, "Snapshot", snap, utc)
	each(t, src, func(ctx context.Context, d smi.Device) {
		if v, err := src.Firmware(ctx, d.Index); err == nil {
			encodings(t, "Firmware", &v, nil)
		}
		if v, err := src.ECC(ctx, d.Index); err == nil {
			encodings(t, "ECC", v, nil)
		}
		if v, err := src.BadPages(ctx, d.Index); err == nil {
			encodings(t, "BadPages", &v, nil)
		}
		if v, err := src.XGMI(ctx, d.Index); err == nil {
			encodings(t, "XGMI", v, nil)
		}
		if v, err := src.Partitions(ctx, d.Index); err == nil {
			encodings(t, "Partitions", v, nil)
		}
	})
	if v, err := src.Topology(ctx); err == nil {
		encodings(t, "Topology", v, nil)
	}
}

// utc undoes what MessagePack does to the time zone.
func utc(s *smi.Snapshot) {
	s.Time = s.Time.UTC()
	for i := range s.Devices {
		if m := s.Devices[i].Metrics; m != nil {
			m.Time = m.Time.In(time.UTC)
		}
	}
}

func encodings[T any](t *testing.T, what string, v *T, normal func(*T)) {
	t.Helper()
	j, err := json.Marshal(v)
	if err != nil {
		t.Errorf("%s as JSON: %v", what, err)
		return
	}
	var fromJSON, fromPack T
	if err := json.Unmarshal(j, &fromJSON); err != nil {
		t.Errorf("%s from JSON: %v", what, err)
		return
	}
	if again, err := json.Marshal(&fromJSON); err != nil || string(again) != string(j) {
		t.Errorf("JSON changed %s (%v):\n%s\n%s", what, err, j, again)
	}
	m, err := msgpack.Marshal(v)
	if err != nil {
		t.Errorf("%s as MessagePack: %v", what, err)
		return
	}
	if err := msgpack.Unmarshal(m, &fromPack); err != nil {
		t.Errorf("%s from MessagePack: %v", what, err)
		return
	}
	if normal != nil {
		normal(&fromPack)
	}
	if again, _ := json.Marshal(&fromPack); string(again) != string(j) {
		t.Errorf("MessagePack changed %s:\n%s\n%s", what, j, again)
	}
}

func testClose(t *testing.T, src smi.Source) {
	if err := src.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := src.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
	for name, q := range general() {
		_, err := q(src, t.Context(), 0)
		if name != "Devices" && name != "Metrics" && errors.Is(err, smi.ErrNotSupported) {
			continue
		}
		if !errors.Is(err, smi.ErrUnavailable) {
			t.Errorf("%s after Close: %v, want ErrUnavailable", name, err)
		}
	}
	if err := src.Events(t.Context(), func(smi.Event) {}); !errors.Is(err, smi.ErrUnavailable) && !errors.Is(err, smi.ErrNotSupported) {
		t.Errorf("Events after Close: %v, want ErrUnavailable", err)
	}
}
