package page

import (
	"flag"
	"fmt"
	"time"

	"github.com/rocwire/rocwire/internal/bytesize"
)

// AddFlags adds what an operator may say about the page. Their defaults are what o
// holds already (see FromEnv).
func (o *Options) AddFlags(fs *flag.FlagSet) {
	setDefault(&o.History, defaultHistory)
	setDefault(&o.Step, defaultStep)
	setDefault(&o.MaxBytes, defaultBytes)
	fs.StringVar(&o.Title, "page-title", o.Title, "")
	fs.DurationVar(&o.History, "page-history", o.History, "")
	fs.DurationVar(&o.Step, "page-step", o.Step, "")
	fs.Func("page-memory", "", func(s string) error {
		n, ok := bytesize.Parse(s, 1<<34)
		if !ok {
			return fmt.Errorf("%q is no size", s)
		}
		o.MaxBytes = n
		return nil
	})
}

// Usage is the part of a program's help about these flags.
func Usage() string {
	return `  --page-title TEXT       title of the page at / (GPUs of HOST, or ROCWIRE_PAGE_TITLE)
  --page-history TIME     how far back the page shows figures (1h, or ROCWIRE_PAGE_HISTORY)
  --page-step TIME        how close together they are (5s)
  --page-memory SIZE      memory they may take (6M)
`
}

// FromEnv takes from the environment what an operator said there.
func (o *Options) FromEnv(getenv func(string) string) error {
	if v := getenv("ROCWIRE_PAGE_TITLE"); v != "" {
		o.Title = v
	}
	if v := getenv("ROCWIRE_PAGE_HISTORY"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil {
			return fmt.Errorf("ROCWIRE_PAGE_HISTORY=%q is no span of time", v)
		}
		o.History = d
	}
	return nil
}
