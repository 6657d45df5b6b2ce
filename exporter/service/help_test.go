package service

import (
	"flag"
	"io"
	"regexp"
	"strings"
	"testing"
)

// Every flag is explained once, and nothing else is.
func TestUsageHasAllFlags(t *testing.T) {
	var o Options
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	o.AddFlags(fs)
	explained := map[string]int{}
	for line := range strings.Lines(Usage()) {
		if len(line) > helpWidth+1 && !strings.Contains(line, "--") {
			t.Errorf("too long: %q", line)
		}
		// A flag stands at the beginning of a line, or with what another one needs.
		for _, m := range regexp.MustCompile(`--([a-z0-9-]+)`).FindAllStringSubmatch(line, -1) {
			explained[m[1]]++
		}
	}
	fs.VisitAll(func(f *flag.Flag) {
		if explained[f.Name] == 0 {
			t.Errorf("--%s is not explained", f.Name)
		}
		delete(explained, f.Name)
	})
	delete(explained, "insecure") // the programs'
	if len(explained) > 0 {
		t.Errorf("explained, and no flags: %v", explained)
	}
}

func TestLayout(t *testing.T) {
	got := layout(`
Title:
  --a                 on     [off]
  -b, --bee B         a thing that is explained with so many words that they do not
                      stand on one line of the help, however wide it is by now      [b]
  --long-name-of-a-flag FILE
                      text
  --u URL one gap only, and HOST[:PORT]
  --mode lower
                      text [no]
  --x FILE, --y FILE  two
  --c gzip|none      [gzip]
`)
	want := `
Title:
  --a                     on (off)
  -b, --bee B             a thing that is explained with so many words that they do not stand on one line of
                          the help, however wide it is by now (b)
  --long-name-of-a-flag FILE
                          text
  --u URL                 one gap only, and HOST[:PORT]
  --mode lower            text (no)
  --x FILE, --y FILE      two
  --c gzip|none           (gzip)
`
	if got != want {
		t.Errorf("%s", got)
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]size{"5": 5, "3K": 3 << 10, "256M": 256 << 20, "1G": 1 << 30, "2GiB": 2 << 30, "0": 0, "-1": 0, "": 0, "M": 0, "1T": 0, "9999999999G": 0} {
		var s size
		if err := s.Set(text); s != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %d, %v", text, s, err)
		}
	}
}
