package hipremote

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/tfconnect"
	"github.com/rocwire/rocwire/internal/visible"
	"github.com/rocwire/rocwire/internal/workerlist"
)

// Defaults of a Config.
const (
	DefaultHost           = "localhost"
	DefaultPort           = workerlist.DefaultPort
	DefaultConnectTimeout = 30 * time.Second
	DefaultIOTimeout      = 60 * time.Second
	DefaultReconnect      = 60 * time.Second
)

// Config says where the worker is and how to speak with it.
type Config struct {
	Host, Port     string
	Locate         Locator // finds the worker when it is first needed; nil: at Host and Port
	Dialing        dialing.Settings
	ConnectTimeout time.Duration // for connection and handshake
	IOTimeout      time.Duration // how long the worker may be silent while something is pending
	Reconnect      time.Duration // how long calls wait for a connection that was cut to be made again; 0: not at all
	Debug          bool          // log what happens, not only what fails
	Eager          bool          // give kernels all host memory from the start
	Compare        bool          // find what the program wrote to host memory by comparing all of it, also where the kernel could tell
	NoReserve      bool          // reserve no range of device addresses: every allocation asks the worker
	NoShare        bool          // do not share memory with a worker on this machine
	Near           bool          // map all device memory of such a worker that can be mapped when it is first copied, not only where that pays
	Devices        string        // HIP_VISIBLE_DEVICES of this process
	ROCrDevices    string        // ROCR_VISIBLE_DEVICES, which goes before
	Space          *Space        // of addresses, shared with other clients; nil: this client has its own
	Part           int           // of Space
	TraceEvery     uint32        // one of so many calls is traced, where the worker exports traces; 0: none
	// Output takes what kernels print, for standard output or standard error, before a call returns that waited for the kernel. Calls may
	// overlap, and must not call HIP. nil writes to this process's own.
	Output func(stderr bool, text []byte)
	// Logf writes one line of log; nil means standard error.
	Logf func(format string, args ...any)
}

// Locator finds out where the worker is. It may take long.
type Locator func(ctx context.Context) (host, port string, err error)

// Simulated is the TF_WORKER_HOST that is no worker but a simulated GPU in this process.
const Simulated = "sim:"

// AllFromEnv is FromEnv for each of the workers that TF_WORKER_HOST names, or else the configuration file, as package dialing reads them. A list that makes no
// sense names a worker that cannot be reached. Where TensorFusion's operator says where the worker is, it is one.
func AllFromEnv(lookup func(string) (string, bool)) []Config {
	c := FromEnv(lookup)
	if c.Host == Simulated {
		return []Config{c}
	}
	getenv := func(name string) string {
		v, _ := lookup(name)
		return v
	}
	list, err := dialing.Workers(getenv("TF_WORKER_HOST"), c.Port, c.Dialing, getenv)
	if list == nil {
		list = []dialing.Worker{{Address: workerlist.Address{Host: c.Host, Port: c.Port}, Settings: c.Dialing}}
	}
	if err != nil {
		c.Locate = func(context.Context) (string, string, error) {
			return "", "", fmt.Errorf("where the worker is: %w", err)
		}
		return []Config{c}
	}
	if c.Locate != nil {
		if len(list) > 1 {
			c.logf("TF_WORKER_HOST names %d workers; %s names the one that is used", len(list), tfconnect.URLVariable)
			c.Locate = locate(&c, getenv, "", "", false)
		} else {
			c.Locate = locate(&c, getenv, list[0].Host, list[0].Port, getenv("TF_WORKER_HOST") != "")
		}
		return []Config{c}
	}
	all := make([]Config, len(list))
	for i, a := range list {
		all[i] = c
		all[i].Host, all[i].Port, all[i].Dialing = a.Host, a.Port, a.Settings
		if a.Reconnect != nil && getenv("TF_RECONNECT_TIMEOUT") == "" {
			all[i].Reconnect = *a.Reconnect
		}
	}
	return all
}

// locate asks TensorFusion's operator.
func locate(c *Config, getenv func(string) string, host, port string, given bool) Locator {
	logf := c.logf
	return func(ctx context.Context) (string, string, error) {
		return tfconnect.Locate(ctx, getenv, logf, host, port, given)
	}
}

// FromEnv reads TENSOR_FUSION_OPERATOR_GET_CONNECTION_URL (see package tfconnect), TF_WORKER_HOST, TF_WORKER_PORT, what package dialing reads, TF_CONNECT_TIMEOUT, TF_IO_TIMEOUT and TF_RECONNECT_TIMEOUT (seconds, or with a unit), TF_DEBUG,
// TF_WORKER_SHM (0: no shared memory),
// ROCWIRE_HOST_MEMORY (eager, compare), ROCWIRE_RESERVE (0: no range of device addresses), ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES,
// CUDA_VISIBLE_DEVICES, and what rpctrace.Every reads, with lookup: os.LookupEnv, or what sees a program's own changes of its environment. What makes no sense is said once and the default taken.
func FromEnv(lookup func(string) (string, bool)) Config {
	getenv := func(name string) string {
		v, _ := lookup(name)
		return v
	}
	c := Config{Host: DefaultHost, Port: DefaultPort, ConnectTimeout: DefaultConnectTimeout, IOTimeout: DefaultIOTimeout, Reconnect: DefaultReconnect}
	if v := getenv("TF_WORKER_HOST"); v != "" {
		c.Host = v
	}
	if v := getenv("TF_WORKER_PORT"); v != "" {
		if n, err := strconv.ParseUint(v, 10, 16); err != nil || n == 0 {
			c.logf("TF_WORKER_PORT=%q is no port; using %s", v, c.Port)
		} else {
			c.Port = v
		}
	}
	c.Dialing = dialing.FromEnv(getenv)
	if getenv(tfconnect.URLVariable) != "" {
		c.Locate = locate(&c, getenv, c.Host, c.Port, getenv("TF_WORKER_HOST") != "")
	}
	c.duration(&c.ConnectTimeout, "TF_CONNECT_TIMEOUT", getenv, false)
	c.duration(&c.IOTimeout, "TF_IO_TIMEOUT", getenv, false)
	c.duration(&c.Reconnect, "TF_RECONNECT_TIMEOUT", getenv, true)
	switch getenv("TF_DEBUG") {
	case "", "0", "false":
	default:
		c.Debug = true
	}
	for word := range strings.SplitSeq(getenv("ROCWIRE_HOST_MEMORY"), ",") {
		c.Eager = c.Eager || word == "eager"
		c.Compare = c.Compare || word == "compare"
	}
	c.NoReserve = getenv("ROCWIRE_RESERVE") == "0"
	c.NoShare = getenv("TF_WORKER_SHM") == "0"
	c.ROCrDevices, c.Devices = visible.FromEnv(lookup)
	var problem string
	if c.TraceEvery, problem = rpctrace.Every(getenv); problem != "" {
		c.logf("%s", problem)
	}
	return c
}

// duration reads one; 0 is one only where it is an answer.
func (c *Config) duration(d *time.Duration, name string, getenv func(string) string, zero bool) {
	v := getenv(name)
	if v == "" {
		return
	}
	got, err := time.ParseDuration(v)
	if n, e := strconv.ParseFloat(v, 64); e == nil && n < 1e6 {
		got, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil || got < 0 || got == 0 && !zero {
		c.logf("%s=%q is no duration; using %v", name, v, *d)
		return
	}
	*d = got
}

func (c *Config) logf(format string, args ...any) {
	if c.Logf != nil {
		c.Logf(format, args...)
		return
	}
	fmt.Fprintf(os.Stderr, "rocwire: "+format+"\n", args...)
}

func (c *Config) debugf(format string, args ...any) {
	if c.Debug {
		c.logf(format, args...)
	}
}
