package text

import (
	"math"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/smi"
)

func TestBytes(t *testing.T) {
	for b, want := range map[smi.Bytes]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1 << 20: "1.0 MiB", 1<<20 - 1: "1.0 MiB", 192 << 30: "192.0 GiB", 1 << 40: "1.0 TiB", 5000 << 40: "5000.0 TiB",
	} {
		if got := BytesText(b); got != want {
			t.Errorf("%d: %s, want %s", b, got, want)
		}
	}
	none := smi.None[smi.Bytes]()
	for _, c := range []struct {
		used, total smi.Opt[smi.Bytes]
		want        string
	}{
		{smi.Some(smi.MiB(512)), smi.Some(smi.MiB(192 << 10)), "0.5/192.0 GiB"}, {none, smi.Some(smi.MiB(1)), "-/1.0 MiB"},
		{smi.Some(smi.MiB(1)), none, "1.0 MiB/-"}, {none, none, "-/-"}, {smi.Some(smi.Bytes(3)), smi.Some(smi.Bytes(9)), "3/9 B"},
	} {
		if got := BytesOf(c.used, c.total); got != c.want {
			t.Errorf("%v of %v: %s, want %s", c.used, c.total, got, c.want)
		}
	}
}

func TestFigures(t *testing.T) {
	for _, c := range [][2]string{
		{Latency(8e-10), "1 ns"}, {Latency(12e-9), "12 ns"}, {Latency(9.96e-7), "996 ns"}, {Latency(1.5e-6), "1.50 µs"}, {Latency(12.34e-6), "12.3 µs"},
		{Latency(0.25), "250 ms"}, {Latency(3), "3.0 s"}, {Latency(math.NaN()), "-"}, {Latency(0), "0 ns"},
		{Count(812), "812"}, {Count(12345), "12.3k"}, {Count(4.5e6), "4.5M"}, {Count(3e12), "3.0T"}, {Rate(0), "0"}, {Rate(0.24), "0.2"}, {Rate(9.96), "10"},
		{SI(smi.Some(smi.Joules(999.96)), "J"), "1.0 kJ"}, {SI(smi.Some(smi.Joules(1.5e12)), "J"), "1.5 TJ"}, {SI(smi.None[smi.Joules](), "J"), "-"},
		{Age(smi.Duration(1.25e9)), "1.2 s"}, {Age(smi.Duration(90e9)), "90 s"}, {Age(smi.Duration(3600e9)), "1h0m0s"},
		{Percent(smi.Some(smi.Ratio(0.126))), "13"}, {MHz(smi.Some(smi.MHz(2100))), "2100"}, {Unit("-", "W"), "-"}, {Unit("5", "W"), "5 W"},
		{Dash(" \t"), "?"}, {Dash("  "), "-"}, {Dash("a\x1b[m\xff"), "a?[m?"},
	} {
		if c[0] != c[1] {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
}

func TestTableFits(t *testing.T) {
	table := &Table{Columns: []Column{{Title: "A", Right: true}, {Title: "NAME", Min: 6}, {Title: "MORE", Drop: 1}, {Title: "MOST", Drop: 2}}}
	table.Row("1", strings.Repeat("n", 30), "more", "most")
	table.Note(strings.Repeat("note ", 20))
	for width, want := range map[int]string{
		80: "A  NAME                            MORE  MOST\n1  " + strings.Repeat("n", 30) + "  more  most\n",
		30: "A  NAME             MORE  MOST\n1  " + strings.Repeat("n", 14) + "…  more  most\n",
		20: "A  NAME         MORE\n1  nnnnnnnnnn…  more\n",
	} {
		var b strings.Builder
		table.Write(&b, width)
		for line := range strings.Lines(b.String()) {
			if Width(strings.TrimSuffix(line, "\n")) > width {
				t.Errorf("width %d: %q", width, line)
			}
		}
		if want != "" && !strings.HasPrefix(b.String(), want) {
			t.Errorf("width %d:\n%s\nwant\n%s", width, &b, want)
		}
		if left := width < 30; strings.Contains(b.String(), "Left out") != left {
			t.Errorf("width %d:\n%s", width, &b)
		}
	}
}

func TestWrap(t *testing.T) {
	if got := Wrap("one, two three four", 9, 4); strings.Join(got, "|") != "one, two|three|four" {
		t.Errorf("%q", got)
	}
	if got := Wrap(strings.Repeat("word ", 100), 20, 3); len(got) != 3 || Width(got[2]) > 20 || !strings.HasSuffix(got[2], "…") {
		t.Errorf("%q", got)
	}
}

func FuzzClip(f *testing.F) {
	f.Add("plain", 3)
	f.Add("漢字 é", 4)
	f.Fuzz(func(t *testing.T, s string, width int) {
		if width > 1000 {
			return
		}
		s = Clean(s)
		if got := Clip(s, width); Width(got) > max(width, 0) {
			t.Errorf("%q is %d wide, not %d", got, Width(got), width)
		}
		if got := Pad(s, width, false); width > 0 && Width(got) != width {
			t.Errorf("%q is %d wide, not %d", got, Width(got), width)
		}
	})
}
