package rows

import (
	"flag"
	"fmt"
	"time"
)

// Options are what all sinks of rows have in common. A program has them once, however
// many sinks it has.
type Options struct {
	Interval     time.Duration // between two readings that are sent. Default 15 s, at least 1 s
	MaxProcesses int           // of one card at most: those that hold most memory. Default 256
}

const (
	defaultInterval  = 15 * time.Second
	minInterval      = time.Second
	defaultProcesses = 256
)

func (o *Options) setDefaults() {
	if o.Interval <= 0 {
		o.Interval = defaultInterval
	}
	o.Interval = max(o.Interval, minInterval)
	if o.MaxProcesses <= 0 {
		o.MaxProcesses = defaultProcesses
	}
}

// AddFlags adds --push-interval.
func (o *Options) AddFlags(fs *flag.FlagSet) {
	if o.Interval <= 0 {
		o.Interval = defaultInterval
	}
	fs.DurationVar(&o.Interval, "push-interval", o.Interval, "")
}

// FromEnv reads ROCWIRE_PUSH_INTERVAL, the flag's default.
func (o *Options) FromEnv(getenv func(string) string) error {
	v := getenv("ROCWIRE_PUSH_INTERVAL")
	if v == "" {
		return nil
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		return fmt.Errorf("ROCWIRE_PUSH_INTERVAL %q is no time such as 15s", v)
	}
	o.Interval = d
	return nil
}

// Check reports what is wrong with the options.
func (o *Options) Check() error {
	if o.Interval != 0 && o.Interval < minInterval {
		return fmt.Errorf("--push-interval %v is less than %v", o.Interval, minInterval)
	}
	return nil
}

// Usage is the help for the flags.
func Usage() string {
	return `  --push-interval TIME    how often figures are sent to GreptimeDB and InfluxDB (15s, or ROCWIRE_PUSH_INTERVAL)
`
}
