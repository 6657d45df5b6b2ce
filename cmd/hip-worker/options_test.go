package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/rocwire/rocwire/exporter/service"
	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/internal/cli/clitest"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/admission"
)

// parse is what a command line comes to.
func parse(args []string, getenv func(string) string) (o *options, err error) {
	root := newRoot(getenv, func(p *options) error { o = p; return nil })
	var errs bytes.Buffer
	if code := cli.Main(context.Background(), root, args, io.Discard, &errs); code != 0 {
		return nil, fmt.Errorf("exit %d: %s", code, errs.String())
	}
	return o, nil
}

func TestParse(t *testing.T) {
	env := func(kv ...string) func(string) string {
		m := map[string]string{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = kv[i+1]
		}
		return func(k string) string { return m[k] }
	}
	base := options{listen: listening{address: "127.0.0.1"}, port: 18515, device: -1, backend: "auto", smi: "auto", maxSessions: 256, park: worker.DefaultPark, simCards: 1}
	with := func(f func(o *options)) *options { o := base; f(&o); return &o }
	for _, c := range []struct {
		args []string
		env  func(string) string
		want *options
	}{
		{nil, env(), with(func(*options) {})},
		{[]string{"-p", "5", "-d", "1", "-v"}, env(), with(func(o *options) { o.port, o.device, o.verbose = 5, 1, true })},
		{[]string{"--port=6", "--device=2", "--verbose"}, env(), with(func(o *options) { o.port, o.device, o.verbose = 6, 2, true })},
		{nil, env("TF_WORKER_PORT", "7", "TF_DEVICE_ID", "3", "TF_DEBUG", "1", "HIP_VISIBLE_DEVICES", "0,1"),
			with(func(o *options) { o.port, o.device, o.verbose, o.visible = 7, 3, true, "0,1" })},
		{[]string{"-p", "8"}, env("TF_WORKER_PORT", "7", "TF_DEBUG", "0"), with(func(o *options) { o.port = 8 })},
		{[]string{"--backend", "sim", "--sim-arch", "gfx90a", "--sim-memory", "1.5G", "--sim-cards", "4"}, env(),
			with(func(o *options) { o.backend, o.simArch, o.simMemory, o.simCards = "sim", "gfx90a", 3<<29, 4 })},
		{[]string{"--listen", "0.0.0.0", "--insecure", "--metrics-addr", ":9100"}, env(),
			with(func(o *options) { o.listen.address, o.insecure, o.metrics = "0.0.0.0", true, ":9100" })},
		{[]string{"--listen", "unix:/run/w.sock", "--socket-user", "root", "--socket-user=7", "--socket-group", "0"}, env(), with(func(o *options) {
			o.listen = listening{socket: worker.Socket{Path: "/run/w.sock", Users: []uint32{0, 7}, Groups: []uint32{0}}}
		})},
		{[]string{"--listen", "unix:/run/w.sock", "--listen", "::1"}, env(), with(func(o *options) {
			o.listen = listening{address: "::1", socket: worker.Socket{Path: "/run/w.sock"}}
		})},
		{[]string{"--listen", "127.0.0.1:9"}, env("TF_WORKER_PORT", "7"), with(func(o *options) { o.port = 9 })},
		{[]string{"--listen", "[::1]:0", "--port=0"}, env(), with(func(o *options) { o.listen.address, o.port = "::1", 0 })},
		{[]string{"--listen", "unix:/run/w.sock", "--listen", "localhost:9", "--listen", "unix:b"}, env(), nil},
		{[]string{"--listen", "127.0.0.1:9", "--port", "8"}, env(), nil},
		{[]string{"--listen", "127.0.0.1:many"}, env(), nil},
		{[]string{"--listen", ":9"}, env(), nil},
		{[]string{"--listen", "unix:"}, env(), nil},
		{[]string{"--listen", ""}, env(), nil},
		{[]string{"--listen", "::1", "--listen", "127.0.0.1"}, env(), nil},
		{[]string{"--listen", "unix:a", "--listen", "unix:b"}, env(), nil},
		{[]string{"--listen", "unix:a", "--port-file", "p"}, env(), nil},
		{[]string{"--socket-user", "root"}, env(), nil},
		{[]string{"--listen", "unix:a", "--socket-user", "no such user"}, env(), nil},
		{[]string{"--listen", "unix:a", "--socket-group", "-1"}, env(), nil},
		{[]string{"--smi-backend", "sysfs", "--smi-allow-set", "--kubelet-socket", "/run/k.sock", "--proc", "/host/proc"}, env(),
			with(func(o *options) {
				o.smi, o.allowSet, o.kubelet, o.proc = "sysfs", true, "unix:///run/k.sock", "/host/proc"
			})},
		{[]string{"--smi-backend", "sim", "--kubelet-socket", "none"}, env(), with(func(o *options) { o.smi, o.kubelet = "sim", "none" })},
		{[]string{"--max-sessions", "8", "--max-sessions-per-address", "2", "--max-management=9", "--max-startups", "5:50:10", "--max-penalty", "0"}, env(),
			with(func(o *options) {
				o.maxSessions = 8
				o.limits = admission.Limits{SessionsPerAddress: 2, Managers: 9, Strangers: admission.Startups{Start: 5, Rate: 50, Full: 10}, MaxPenalty: -1}
			})},
		{[]string{"--max-startups", "5"}, env(), nil},
		{[]string{"--max-startups", "5:101:10"}, env(), nil},
		{[]string{"--max-sessions-per-user", "-1"}, env(), nil},
		{[]string{"--max-penalty", "never"}, env(), nil},
		{[]string{"--smi-backend", "nvml"}, env(), nil},
		{[]string{"--smi-backend", ""}, env(), nil},
		{[]string{"--smi-backend", "sim", "--backend", "rocm"}, env(), nil},
		{[]string{"--kubelet-socket", "tcp://127.0.0.1:1"}, env(), nil},
		{[]string{"--kubelet-socket", "kubelet.sock"}, env(), nil},
		{[]string{"--proc", "host/proc"}, env(), nil},
		{[]string{"--session-memory", "16G", "--session-compute", "25%"}, env(), with(func(o *options) {
			o.quota = smi.Quota{Memory: smi.Some(smi.Bytes(16 << 30)), Compute: smi.Some(smi.Ratio(0.25))}
		})},
		{[]string{"--session-memory", "lots"}, env(), nil},
		{[]string{"--session-compute", "0"}, env(), nil},
		{[]string{"--session-compute", "101"}, env(), nil},
		{[]string{"extra"}, env(), nil},
		{[]string{"--nonsense"}, env(), nil},
		{[]string{"--backend", "cuda"}, env(), nil},
		{[]string{"-p", "65536"}, env(), nil},
		{[]string{"-p", "-1"}, env(), nil},
		{[]string{"--sim-cards", "0"}, env(), nil},
		{[]string{"--sim-memory", "lots"}, env(), nil},
		{nil, env("TF_WORKER_PORT", "x"), nil},
		{nil, env("TF_WORKER_PORT", "65536"), nil},
	} {
		got, err := parse(c.args, c.env)
		if c.want == nil {
			if err == nil {
				t.Errorf("%q: accepted", c.args)
			}
			continue
		}
		if err == nil {
			got.service, got.words = service.Options{}, words{} // tested where they are, and read
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %+v, %v; want %+v", c.args, got, err, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		visible []int
		device  int
		want    []int
	}{{[]int{0, 1, 2}, -1, []int{0, 1, 2}}, {[]int{2, 0}, 1, []int{0}}, {[]int{0}, 1, nil}, {nil, -1, nil}} {
		got, err := choose(c.visible, c.device)
		if (err != nil) != (c.want == nil) || !reflect.DeepEqual(got, c.want) {
			t.Errorf("choose(%v, %d) = %v, %v", c.visible, c.device, got, err)
		}
	}
}

func TestHelpIsWhole(t *testing.T) {
	clitest.CheckHelp(t, newRoot(func(string) string { return "" }, nil), help(), "testdata/variables.txt")
}

// The file that packages install is one that the worker takes, and says what the worker does without it.
func TestConfigurationFile(t *testing.T) {
	none := func(string) string { return "" }
	got, err := parse([]string{"--config", "../../deploy/packages/worker.yaml"}, none)
	if err != nil {
		t.Fatal(err)
	}
	want, err := parse([]string{"--metrics-addr", "127.0.0.1:9400"}, none)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}
