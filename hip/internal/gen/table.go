package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Table is hip/api.json: the one place where the HIP surface is written down.
type Table struct {
	HIPVersion string      `json:"hip_version"`
	SOName     string      `json:"soname"`
	Next       Next        `json:"next"`
	Macros     [][2]string `json:"macros"`
	Enums      []Enum      `json:"enums"`
	Opaque     []string    `json:"opaque"`
	Wrong      Wrong       `json:"wrong"`
	Handles    []Handle    `json:"handles"`
	Objects    []Object    `json:"objects"`
	Typedefs   [][2]string `json:"typedefs"`
	Structs    []Struct    `json:"structs"`
	Functions  []Function  `json:"functions"`
}

// Next is the vendor's library of the following major version, which is these exports but for those that are of one of the two only.
type Next struct {
	HIPVersion string `json:"hip_version"`
	SOName     string `json:"soname"`
}

// Handle is a kind of handle: its C types, its Go type, what HIP answers to one that is none, whether each call that returns it
// makes one more owner, whether it outlives a reset of its device, and whether clients know all of them, so that they check them in calls
// that are posted.
type Handle struct {
	C        []string `json:"c"`
	Go       string   `json:"go"`
	Wrong    string   `json:"wrong"`
	Counted  bool     `json:"counted"`
	Survives bool     `json:"survives"`
	Posted   bool     `json:"posted"`
}

// Object is a kind of handle that the library gives out itself, and what HIP answers to one that is none.
type Object struct {
	C     string `json:"c"`
	Wrong string `json:"wrong"`
}

// Enum is one C enumeration; Values are [name, number] pairs.
type Enum struct {
	Name       string  `json:"name"`
	Values     [][]any `json:"values"`
	Size       int     `json:"size"`
	Underlying string  `json:"underlying"`
}

// Struct is one C struct or union with its layout in bytes.
type Struct struct {
	Name   string  `json:"name"`
	Kind   string  `json:"kind"`
	Size   int     `json:"size"`
	Align  int     `json:"align"`
	Fields []Field `json:"fields"`
}

// Field is one member. Type is a C type ("char[256]" for arrays), or "struct"
// or "union" with Members for an anonymous aggregate. Bits is the width of a
// bit field.
type Field struct {
	Name    string  `json:"name"`
	Type    string  `json:"type"`
	Offset  int     `json:"offset"`
	Size    int     `json:"size"`
	Bits    int     `json:"bits"`
	Members []Field `json:"members"`
}

// Function is one exported symbol.
//
// Class says who answers it:
//
//	c            hipabi, in handwritten C; no prototype is generated for the export
//	local        hipabi, in handwritten Go behind a generated C export
//	cached       the Runtime, once per argument list; the client keeps the answer
//	sync         the Runtime; the caller waits for the reply
//	async        the Runtime; no reply is asked for
//	unsupported  answered hipErrorNotSupported
//
// Export "unsupported" is for a method of the Runtime whose C export is still to be written.
//
// Of a method of the Runtime the row also says
//
//	waits    whether it may wait for the device: the worker then executes it beside the line
//	errors   whether it returns failures of earlier calls, as every async one does
//	syncs    whether its success means that a "stream", a "device" or an "event" has come to an end
//	copies   whether it is one of the copies, which share a message: of "rows" or of a "box"
//	writes   the memory that it writes, where that follows from its parameters
//	capture  what it means while a stream captures: "pass", "node" (it becomes one), "unsafe" (refused where the thread's mode says so),
//	         "implicit" (refused, as it would wait for the null stream), "refused", "stream" and "event" (refused if it asks how far a
//	         capture has come), "own" (handwritten)
//	learn    whether the client keeps something of its parameters and results, in a handwritten method
//	quota    "pass", or "own" if quotas count it, by a handwritten method
//
// Destroys names the handle parameter whose object the call ends; a result that is a handle is one that the call makes, unless Of
// names the handle parameter that it belongs to and ends with. Go is the method where it is not what the parameters say.
//
// First names the parameters that are judged before all others; otherwise pointers that must not be null come first.
type Function struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Class      string   `json:"class"`
	Opcode     string   `json:"opcode"`
	Ret        string   `json:"ret"`
	Weak       bool     `json:"weak"`
	Undeclared bool     `json:"undeclared"`
	Deprecated bool     `json:"deprecated"`
	Absent     bool     `json:"absent"`  // the vendor's library has no more than its arguments' checks, and answers hipErrorNotSupported
	Only       string   `json:"only"`    // "this": the next major version has no such export; "next": this one has none
	Changed    string   `json:"changed"` // the C function that the next major version's export of this name is
	Thread     *bool    `json:"thread"`
	Waits      bool     `json:"waits"`
	Errors     bool     `json:"errors"`
	Syncs      string   `json:"syncs"`
	Copies     string   `json:"copies"`
	Writes     *Memory  `json:"writes"`
	Capture    string   `json:"capture"`
	Quota      string   `json:"quota"`
	Learn      bool     `json:"learn"`
	Destroys   string   `json:"destroys"`
	Of         string   `json:"of"`
	Quiet      []string `json:"quiet"` // errors that do not become the last one: "null" is what null arguments are answered with, a parameter's name what its null is, and f(x) any of a call of which that is so in C
	First      []string `json:"first"`
	Late       bool     `json:"late"` // what is written by hand finds what is null, after what comes before that
	Export     string   `json:"export"`
	Custom     []string `json:"custom"`
	Go         string   `json:"go"`
	Params     []Param  `json:"params"`
}

// Memory is what a call writes, by the names of its parameters: Bytes times Unit at At, or Height rows of Width bytes, Pitch apart.
type Memory struct {
	At     string `json:"at"`
	Bytes  string `json:"bytes"`
	Unit   int    `json:"unit"`
	Pitch  string `json:"pitch"`
	Width  string `json:"width"`
	Height string `json:"height"`
}

// Param is one C parameter. Dir says what a pointer is:
//
//	addr  an address of the device or the host that is passed on as a number
//	in    it points to what is passed in: a struct, or, with Count, the first element of a list
//	out   what it points to is returned; Optional says that it may be null
//
// Nullable is for "in", and for handles whose objects end, where null is a value of its own. Count names the parameter with the length of a list. As is the Go type of
// what lies behind a void *. A Reserved one must be 0. Check names a function of the worker that judges handles in a struct.
//
// Null, Wrong, Zero and Huge are what the call is answered with if it is null, if it is no such handle, enumerator, device or flag or the
// address of nothing, if it is 0, and if it is more than there can be: an error, or one of the words of codes.go. Where they are empty the
// defaults of the kind hold (Wrong of the table and of its handles).
type Param struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Dir      string `json:"dir"`
	Optional bool   `json:"optional"`
	Nullable bool   `json:"nullable"`
	Count    string `json:"count"`
	As       string `json:"as"`
	Check    string `json:"check"`
	Reserved bool   `json:"reserved"`
	Null     string `json:"null"`
	Wrong    string `json:"wrong"`
	Zero     string `json:"zero"`
	Huge     string `json:"huge"`
}

// custom reports whether the part ("client", "worker", "export", "rocm", "multi") of f
// is written by hand; "client-wrap" and "rocm-wrap" are handwritten methods
// around the generated call, "rocm-room" one that waits for memory that is being freed.
func (f *Function) custom(part string) bool {
	for _, c := range f.Custom {
		if c == part {
			return true
		}
	}
	return false
}

// unsupported reports whether the C export answers hipErrorNotSupported.
func (f *Function) unsupported() bool { return f.Class == "unsupported" || f.Export == "unsupported" }

// runtime reports whether f is a method of hip.Runtime.
func (f *Function) runtime() bool {
	return f.Class == "cached" || f.Class == "sync" || f.Class == "async"
}

// queues is the stream that f gives something to do, nil if there is none.
func (f *Function) queues() *Param {
	for i := range f.Params {
		if p := &f.Params[i]; p.Type == "hipStream_t" && (f.Class == "async" || f.Capture == "node") {
			return p
		}
	}
	return nil
}

// thread reports whether the method takes the calling thread's state.
func (f *Function) thread() bool { return f.Thread == nil || *f.Thread }

// method is the Go name of f.
func (f *Function) method() string {
	if f.Go != "" {
		return f.Go[:strings.IndexByte(f.Go, '(')]
	}
	return strings.TrimPrefix(f.Name, "hip")
}

// op is the name of f's opcode constant.
func (f *Function) op() string { return "Op" + f.method() }

func readTable(path string) (*Table, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var t Table
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &t, t.check()
}

// check refuses a table that the outputs could not be made from.
func (t *Table) check() error {
	names, ops := map[string]bool{}, map[string]string{}
	ty := t.types()
	for i := range t.Functions {
		f := &t.Functions[i]
		if err := t.checkCodes(ty, f); err != nil {
			return err
		}
		if names[f.Name] {
			return fmt.Errorf("%s stands twice", f.Name)
		}
		names[f.Name] = true
		switch f.Class {
		case "c", "local", "unsupported":
			if f.Opcode != "" {
				return fmt.Errorf("%s: class %s has no opcode", f.Name, f.Class)
			}
		case "cached", "sync", "async":
			if f.Opcode == "" {
				return fmt.Errorf("%s: no opcode", f.Name)
			}
			if other := ops[f.Opcode]; other != "" {
				return fmt.Errorf("%s and %s share opcode %s", f.Name, other, f.Opcode)
			}
			ops[f.Opcode] = f.Name
		default:
			return fmt.Errorf("%s: unknown class %q", f.Name, f.Class)
		}
		if err := f.checkAttributes(); err != nil {
			return err
		}
		if f.Export != "" && f.Export != "unsupported" {
			return fmt.Errorf("%s: unknown export %q", f.Name, f.Export)
		}
		params := map[string]bool{}
		for _, p := range f.Params {
			params[p.Name] = true
		}
		for _, p := range f.Params {
			switch p.Dir {
			case "", "in", "out", "addr":
			default:
				return fmt.Errorf("%s: %s has unknown direction %q", f.Name, p.Name, p.Dir)
			}
			if f.Class == "async" && p.Dir == "out" {
				return fmt.Errorf("%s: an async call returns nothing", f.Name)
			}
			if p.Count != "" && !params[p.Count] {
				return fmt.Errorf("%s: no parameter %s", f.Name, p.Count)
			}
		}
		for _, n := range []string{f.Destroys, f.Of} {
			if n != "" && !params[n] {
				return fmt.Errorf("%s: no parameter %s", f.Name, n)
			}
		}
	}
	return nil
}

var captureRules = []string{"pass", "node", "unsafe", "implicit", "refused", "stream", "event", "own"}

// checkAttributes refuses a method of the Runtime about which the row says too little.
func (f *Function) checkAttributes() error {
	if !f.runtime() {
		if f.Capture != "" || f.Quota != "" || f.Syncs != "" || f.Writes != nil || f.Errors || f.Waits || f.Copies != "" {
			return fmt.Errorf("%s: class %s is no method of the Runtime and has none of its attributes", f.Name, f.Class)
		}
		return nil
	}
	if !slices.Contains(captureRules, f.Capture) {
		return fmt.Errorf("%s: capture %q is none of %v", f.Name, f.Capture, captureRules)
	}
	if f.Quota != "pass" && f.Quota != "own" {
		return fmt.Errorf("%s: quota %q is neither pass nor own", f.Name, f.Quota)
	}
	if !slices.Contains([]string{"", "stream", "device", "event"}, f.Syncs) {
		return fmt.Errorf("%s: syncs with %q", f.Name, f.Syncs)
	}
	if !slices.Contains([]string{"", "rows", "box"}, f.Copies) {
		return fmt.Errorf("%s: copies %q", f.Name, f.Copies)
	}
	return nil
}
