package ebpf

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"path"
	"strconv"
	"strings"
	"time"
)

// Options say what is watched. The zero value watches nothing; Enabled alone is enough.
type Options struct {
	// Enabled is for programs that offer this as a flag. Open does not look at it.
	Enabled bool
	// Functions are names of functions, or groups of them (see Groups), or "all". Empty
	// is DefaultFunctions.
	Functions []string
	// Libraries are what a HIP library's file is called: shell patterns for the last
	// element of its path. Empty is DefaultLibraries.
	Libraries []string
	// Files are libraries that are watched from the start, whether or not a program has
	// them loaded: shell patterns for whole paths. What is not there is looked for again
	// at every scan. nil is DefaultFiles.
	Files []string

	Interval time.Duration // between scans for libraries and readings of the figures; default 1 s
	// Keep is how long the last figures of a program that ended are still shown, and how
	// long a library without users stays watched. Default 30 s: longer than the usual
	// time between two scrapes.
	Keep time.Duration

	MaxProcesses   int // programs counted at once; default 256
	MaxSeries      int // functions of programs, and again their results, counted at once; default 4096
	MaxAllocations int // allocations remembered at once, half of them of one program at most; default 65536
	MaxThreads     int // threads that have called HIP and still live; default 16384

	// Proc is the /proc whose process numbers are the host's; default /proc.
	Proc string
	Log  *slog.Logger // default: discard

	// For tests:
	noMulti bool   // attach as kernels before 6.6 must
	only    string // how paths of libraries begin; others are left alone
}

// DefaultLibraries is what AMD's library and ours are called.
var DefaultLibraries = []string{"libamdhip64.so*"}

// DefaultFiles are the places where ROCm and distributions install the library.
var DefaultFiles = []string{
	"/opt/rocm*/lib/libamdhip64.so.*",
	"/usr/lib/x86_64-linux-gnu/libamdhip64.so.*",
	"/usr/lib64/libamdhip64.so.*",
}

// ErrOptions is matched by errors about options that make no sense.
var ErrOptions = errors.New("ebpf: options")

// maxTable bounds each of the tables in the kernel that an operator may size.
const maxTable = 1 << 22

// check fills in defaults.
func (o *Options) check() error {
	def(&o.Interval, time.Second)
	def(&o.Keep, 30*time.Second)
	def(&o.MaxProcesses, 256)
	def(&o.MaxSeries, 4096)
	def(&o.MaxAllocations, 1<<16)
	def(&o.MaxThreads, 1<<14)
	for name, n := range map[string]int{
		"processes": o.MaxProcesses, "series": o.MaxSeries, "allocations": o.MaxAllocations, "threads": o.MaxThreads,
	} {
		if n > maxTable {
			return fmt.Errorf("%w: %d %s are more than %d", ErrOptions, n, name, maxTable)
		}
	}
	if o.Interval < 100*time.Millisecond {
		return fmt.Errorf("%w: an interval of %v is less than 100ms", ErrOptions, o.Interval)
	}
	if len(o.Functions) == 0 {
		o.Functions = DefaultFunctions
	}
	if len(o.Libraries) == 0 {
		o.Libraries = DefaultLibraries
	}
	if o.Files == nil {
		o.Files = DefaultFiles
	}
	for _, p := range append(append([]string(nil), o.Libraries...), o.Files...) {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("%w: %q is no pattern", ErrOptions, p)
		}
	}
	for _, p := range o.Libraries {
		if strings.Contains(p, "/") {
			return fmt.Errorf("%w: %q is a path; a library's name has no slash", ErrOptions, p)
		}
	}
	if o.Proc == "" {
		o.Proc = "/proc"
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	_, err := newSelection(o.Functions)
	return err
}

func def[T ~int | ~int64](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// AddFlags adds what an operator may say. Defaults are what o holds already.
func (o *Options) AddFlags(fs *flag.FlagSet) {
	fs.BoolVar(&o.Enabled, "ebpf", o.Enabled, "")
	fs.Func("ebpf-functions", "", setList(&o.Functions))
	fs.Func("ebpf-libraries", "", setList(&o.Libraries))
	fs.Func("ebpf-files", "", setList(&o.Files))
	fs.DurationVar(&o.Interval, "ebpf-interval", o.Interval, "")
	fs.IntVar(&o.MaxProcesses, "ebpf-max-processes", o.MaxProcesses, "")
	fs.StringVar(&o.Proc, "ebpf-proc", o.Proc, "")
}

// Usage is the part of a program's help about these flags.
func Usage() string {
	return `  --ebpf                  also watch the HIP calls of programs on this machine, with
                          eBPF; needs root, or CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE and
                          CAP_DAC_READ_SEARCH (off, or ROCWIRE_EBPF=1)
  --ebpf-functions LIST   groups of functions (memory, copy, launch, sync, module, stream,
                          all) and names (memory,copy,launch,sync,module, or
                          ROCWIRE_EBPF_FUNCTIONS)
  --ebpf-libraries LIST   what the library's file is called (libamdhip64.so*)
  --ebpf-files LIST       libraries that are watched before a program loads them
                          (libamdhip64.so.* in /opt/rocm*/lib and /usr/lib)
  --ebpf-interval TIME    how often libraries are looked for and figures read (1s)
  --ebpf-max-processes N  programs counted at once (256)
  --ebpf-proc DIR         where the host's /proc is (/proc)
`
}

// FromEnv takes from the environment what an operator said there:
// ROCWIRE_EBPF (1, 0, true, false) and ROCWIRE_EBPF_FUNCTIONS.
func (o *Options) FromEnv(getenv func(string) string) error {
	if s := getenv("ROCWIRE_EBPF"); s != "" {
		on, err := strconv.ParseBool(s)
		if err != nil {
			return fmt.Errorf("%w: ROCWIRE_EBPF %q is neither true nor false", ErrOptions, s)
		}
		o.Enabled = on
	}
	if s := getenv("ROCWIRE_EBPF_FUNCTIONS"); s != "" {
		return setList(&o.Functions)(s)
	}
	return nil
}

// setList reads names separated by commas.
func setList(to *[]string) func(string) error {
	return func(s string) error {
		list := []string{}
		for e := range strings.SplitSeq(s, ",") {
			if e = strings.TrimSpace(e); e != "" {
				list = append(list, e)
			}
		}
		*to = list
		return nil
	}
}
