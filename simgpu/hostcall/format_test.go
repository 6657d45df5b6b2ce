package hostcall

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// message lays a printf out as the device library does.
func message(format string, args ...any) []byte {
	str := func(b []byte, s string) []byte {
		b = append(append(b, s...), 0)
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
		return b
	}
	b := str(nil, format)
	for _, a := range args {
		switch v := a.(type) {
		case string:
			b = str(b, v)
		case float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case int:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		case uint64:
			b = binary.LittleEndian.AppendUint64(b, v)
		}
	}
	return b
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		want   string
		format string
		args   []any
	}{
		{"", "", nil},
		{"plain\n", "plain\n", nil},
		{"100%", "%d%%", []any{100}},
		{"a 7 b hello c 2.500000", "a %d b %s c %f", []any{7, "hello", 2.5}},
		{"[  abc][abc  ][ab]|9", "[%5s][%-5s][%.2s]|%d", []any{"abc", "abc", "abc", 9}}, // a width does not eat arguments
		{"0x0p+0 -0x0.0000000000001p-1022 inf -NAN", "%a %a %f %F", []any{0.0, -math.SmallestNonzeroFloat64, math.Inf(1), math.Copysign(math.NaN(), -1)}},
		{"   42|42   |00042", "%*d|%*d|%0*d", []any{5, 42, -5, 42, 5, 42}},
		{"3.14|3.141593", "%.*f|%.*f", []any{2, 3.14159265, -1, 3.14159265}},
		{"x (nil) 0x1000", "x %p %p", []any{0, 4096}},
		{"ac", "a%nc", []any{7}},
		{"-1 255 -1 4294967295 -1", "%hhd %hhu %hd %u %lld", []any{-1, -1, -1, -1, -1}},
		// What C leaves undefined ends the text.
		{"one ", "one %d two", nil},
		{"one ", "one %s two", nil},
		{"one ", "one %", []any{1}},
		{"one ", "one %5.3l", []any{1}},
		{"one ", "one %y two", []any{1}},
		{"one ", "one %*d two", []any{1}},
	} {
		if got := string(Format(message(c.format, c.args...))); got != c.want {
			t.Errorf("%q %v: %q, want %q", c.format, c.args, got, c.want)
		}
	}
	if n := len(Format(message("%999999999d", 1))); n != maxField {
		t.Errorf("a huge width gives %d bytes", n)
	}
	if n := len(Format(message(strings.Repeat("%60000d", 30), make([]any, 0)...))); n != 0 {
		t.Errorf("no arguments give %d bytes", n)
	}
	args := make([]any, 40)
	for i := range args {
		args[i] = 1
	}
	if n := len(Format(message(strings.Repeat("%60000d", 40), args...))); n != maxText {
		t.Errorf("the text has %d bytes", n)
	}
}

// The C library of this machine is the judge: every conversion with every
// combination of flags, widths and precisions, on the values where they go wrong.
func TestFormatAgainstC(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	r := rand.New(rand.NewPCG(1, 2))
	floats := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 1.5, 2.5, 9.5, 99.5, 0.1, 1e-5, 9.9999995e-5, 123456, 999999.5, 1e6, 1e15, 1e16, 1e22, 1e100, math.MaxFloat64,
		math.SmallestNonzeroFloat64, 2.2250738585072014e-308, 1.0 / 3, -2.0 / 3, math.Pi * 1e9, math.Inf(1), math.Inf(-1), 1.96875, 1.03125, 1.9999999999999998}
	integers := []uint64{0, 1, ^uint64(0), 7, 8, 42, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 63, 1<<63 - 1, 123456789}
	var source strings.Builder
	source.WriteString("#include <stdio.h>\n#include <string.h>\nstatic double f(unsigned long long b){double d;memcpy(&d,&b,8);return d;}\nint main(void){\n")
	var want []string
	var got []byte
	n := 0
	add := func(format string, args []any, c string) {
		fmt.Fprintf(&source, "printf(\"%s|\\n\"%s);\n", format, c)
		got = append(got, Format(message(format+"|\n", args...))...)
		want = append(want, format)
		n++
	}
	flags := func() string {
		var s string
		for _, c := range "-+ #0" {
			if r.IntN(3) == 0 {
				s += string(c)
			}
		}
		if r.IntN(2) == 0 {
			s += fmt.Sprint(r.IntN(25) + 1)
		}
		switch r.IntN(4) {
		case 0:
			s += fmt.Sprintf(".%d", r.IntN(20))
		case 1:
			s += "."
		}
		return s
	}
	for range 6000 {
		switch r.IntN(4) {
		case 0, 1:
			x := floats[r.IntN(len(floats))]
			if r.IntN(3) == 0 {
				x = math.Float64frombits(r.Uint64())
			}
			if math.IsNaN(x) {
				x = math.NaN()
			}
			add("%"+flags()+string("eEfFgGaA"[r.IntN(8)]), []any{x}, fmt.Sprintf(", f(%#xull)", math.Float64bits(x)))
		case 2:
			v := integers[r.IntN(len(integers))]
			size := []string{"", "hh", "h", "l", "ll", "j", "z", "t"}[r.IntN(8)]
			c := fmt.Sprintf(", %#xull", v)
			if size == "" || size[0] == 'h' {
				c = fmt.Sprintf(", (int)%#xull", v)
			}
			add("%"+flags()+size+string("diuoxX"[r.IntN(6)]), []any{v}, c)
		case 3:
			s := []string{"", "a", "hello", "seven77", "eight888"}[r.IntN(5)]
			add(strings.NewReplacer("#", "", "0", "", "+", "", " ", "").Replace("%"+flags())+"s", []any{s}, fmt.Sprintf(", %q", s))
		}
	}
	source.WriteString("return 0;}\n")
	file := filepath.Join(t.TempDir(), "p.c")
	if err := os.WriteFile(file, []byte(source.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-w", "-o", file+".exe", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(file + ".exe").Output()
	if err != nil {
		t.Fatal(err)
	}
	c, g := strings.Split(string(out), "\n"), strings.Split(string(got), "\n")
	if len(c) != n+1 || len(g) != n+1 {
		t.Fatalf("%d lines of C, %d of ours, %d expected", len(c), len(g), n+1)
	}
	for i := range want {
		if c[i] != g[i] && strings.Replace(g[i], ".00000e", ".e", 1) != c[i] && strings.Replace(g[i], ".00000E", ".E", 1) != c[i] { // a mistake of older glibc's %#g
			t.Errorf("%q: %q, C prints %q", want[i], g[i], c[i])
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add(message("a %d %s %f", 1, "x", 2.5))
	f.Add([]byte("%*.*f"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if out := Format(b); len(out) > maxText {
			t.Fatalf("%d bytes", len(out))
		}
	})
}
