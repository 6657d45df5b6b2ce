package main

import (
	"slices"
	"strings"
	"testing"
)

// What a row says of wrong arguments must be an error or a word that means something, and fit what the parameter is.
func TestCodes(t *testing.T) {
	base := Table{
		Wrong:   Wrong{Null: "hipErrorInvalidValue", Enum: "hipErrorInvalidValue", Flags: "hipErrorInvalidValue", Device: "hipErrorInvalidDevice"},
		Enums:   []Enum{{Name: "hipError_t", Values: [][]any{{"hipErrorInvalidValue", 1.0}, {"hipErrorInvalidDevice", 101.0}, {"hipErrorNotFound", 500.0}}}},
		Objects: []Object{{C: "hipGraph_t", Wrong: "hipErrorNotFound"}},
	}
	f := Function{Name: "hipThing", Class: "local", First: []string{"device"}, Params: []Param{
		{Name: "graph", Type: "hipGraph_t"},
		{Name: "out", Type: "int *"},
		{Name: "list", Type: "int *", Count: "n"},
		{Name: "n", Type: "size_t"},
		{Name: "userData", Type: "void *"},
		{Name: "device", Type: "int"},
	}}
	base.Functions = []Function{f}
	if err := base.check(); err != nil {
		t.Fatal(err)
	}
	ty := base.types()
	if got := ty.order(&f); !slices.Equal(got, []int{5, 1, 2, 0, 3, 4}) {
		t.Errorf("judged in the order %v", got)
	}
	if checks, _ := ty.judged(&f); len(checks) != 0 {
		t.Errorf("C judges before the device is: %q", checks)
	}
	f.First = nil
	if checks, found := ty.judged(&f); !strings.Contains(strings.Join(checks, ""), "!out || (n && !list)") || !found["out"] || found["list"] {
		t.Errorf("C judges %q", checks)
	}
	for k, want := range map[int]codes{
		0: {null: "hipErrorNotFound", wrong: "hipErrorNotFound"},
		1: {null: "hipErrorInvalidValue"},
		4: {null: legal},
		5: {wrong: "hipErrorInvalidDevice"},
	} {
		if got := ty.codes(&f, f.Params[k]); got != want {
			t.Errorf("%s: %+v, want %+v", f.Params[k].Name, got, want)
		}
	}
	for name, change := range map[string]func(f *Function){
		"no error":                   func(f *Function) { f.Params[1].Null = "hipErrorNone" },
		"a pointer has no zero":      func(f *Function) { f.Params[1].Zero = "hipErrorInvalidValue" },
		"a size is not null":         func(f *Function) { f.Params[3].Null = "hipErrorInvalidValue" },
		"first what is no parameter": func(f *Function) { f.First = []string{"other"} },
	} {
		g := f
		g.Params = slices.Clone(f.Params)
		change(&g)
		bad := base
		bad.Functions = []Function{g}
		if bad.check() == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
