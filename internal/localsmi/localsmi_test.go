package localsmi

import (
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "works":
			os.Exit(0)
		case "says why":
			println("noise\nno driver\n")
			os.Exit(1)
		case "crashes":
			os.Exit(139)
		}
	}
	os.Exit(m.Run())
}

func TestRunProbe(t *testing.T) {
	for command, want := range map[string]string{"works": "", "says why": "no driver", "crashes": "the library fails: exit status 139"} {
		err := RunProbe(command)
		if got := ""; err != nil {
			if got = err.Error(); got != want {
				t.Errorf("%s: %q", command, got)
			}
		} else if want != "" {
			t.Errorf("%s: no error", command)
		}
	}
}

func TestLastLine(t *testing.T) {
	for in, want := range map[string]string{"": "", "\n \n": "", "a": "a", "noise\nwhy \n\n": "why", strings.Repeat("x", 600): strings.Repeat("x", 512)} {
		if got := lastLine(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestOpen(t *testing.T) {
	open := func(name string, err error) Opener {
		return Opener{name, func(*slog.Logger) (smi.Source, error) {
			if err != nil {
				return nil, err
			}
			return smitest.NewFake(), nil
		}}
	}
	missing := errors.New("no library")
	for _, c := range []struct {
		name       string
		amd, sysfs error
		source     string
		errs       []string
	}{
		{Auto, nil, nil, AMD, nil},
		{Auto, missing, nil, Sysfs, nil},
		{Auto, missing, smi.ErrNoDriver, "", []string{"amdsmi: no library", "sysfs: "}},
		{Sysfs, nil, nil, Sysfs, nil},
		{AMD, missing, nil, "", []string{"amdsmi: no library"}},
		{"other", nil, nil, "", []string{`"other"`}},
	} {
		src, source, err := Open(c.name, []Opener{open(AMD, c.amd), open(Sysfs, c.sysfs)}, slog.New(slog.DiscardHandler))
		if source != c.source || (err == nil) != (src != nil) || (err == nil) != (c.errs == nil) {
			t.Errorf("%s: %v, %q, %v", c.name, src, source, err)
		}
		for _, s := range c.errs {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %v does not say %q", c.name, err, s)
			}
		}
		if src != nil {
			if err := src.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
