package main

import (
	"errors"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/internal/localsmi"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/worker"
)

func TestAddSource(t *testing.T) {
	me := smi.Process{PID: uint32(os.Getpid())}
	fake := func(name string) *smitest.Fake {
		return smitest.NewFake(smi.DeviceSnapshot{Device: smi.Device{Name: name}, Processes: []smi.Process{me}})
	}
	open := func(name string, err error) localsmi.Opener {
		return localsmi.Opener{Name: name, Open: func(*slog.Logger) (smi.Source, error) {
			if err != nil {
				return nil, err
			}
			return fake(name), nil
		}}
	}
	missing, broken := errors.New("no library\nanywhere"), smi.Errorf(smi.ErrNoDriver, "no driver")
	for name, c := range map[string]struct {
		smi         string
		sim         bool // the backend is simulated
		amd, sysfs  error
		card        string // name of the card that is told of, "" for none
		source, err string
		why         string // there is none
	}{
		"sim, auto":                      {smi: "auto", sim: true, card: "sim", source: "sim"},
		"sim, by name":                   {smi: "sim", sim: true, card: "sim", source: "sim"},
		"sim, real cards' figures":       {smi: "sysfs", sim: true, card: "sysfs", source: "sysfs"},
		"sim, none":                      {smi: "none", sim: true, why: "--smi-backend none"},
		"rocm, auto":                     {smi: "auto", card: "amdsmi", source: "amdsmi"},
		"rocm, auto without the library": {smi: "auto", amd: missing, card: "sysfs", source: "sysfs"},
		"rocm, auto without anything":    {smi: "auto", amd: missing, sysfs: broken, why: "amdsmi: no library; anywhere; sysfs: no driver"},
		"rocm, the library":              {smi: "amdsmi", card: "amdsmi", source: "amdsmi"},
		"rocm, the library, not there":   {smi: "amdsmi", amd: missing, err: "--smi-backend amdsmi: no library"},
		"rocm, the files":                {smi: "sysfs", card: "sysfs", source: "sysfs"},
		"rocm, the files, not there":     {smi: "sysfs", sysfs: broken, err: "--smi-backend sysfs: no driver"},
		"rocm, simulated cards' figures": {smi: "sim", err: "--backend sim"},
		"rocm, none":                     {smi: "none", why: "--smi-backend none"},
	} {
		t.Run(name, func(t *testing.T) {
			b := worker.Backend{Name: "rocm"}
			if c.sim {
				b = worker.Backend{Name: "sim", Source: fake("sim"), Devices: []int{0}}
			}
			err := addSource(&b, &options{smi: c.smi, kubelet: "none"}, []localsmi.Opener{open(smiAMD, c.amd), open(smiSysfs, c.sysfs)}, slog.New(slog.DiscardHandler))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.why != "" {
				if b.Source != nil || !strings.Contains(b.NoSource, c.why) {
					t.Errorf("source %v: %q", b.Source, b.NoSource)
				}
				return
			}
			defer b.Source.Close()
			devices, err := b.Source.Devices(t.Context())
			if err != nil || len(devices) != 1 || devices[0].Name != c.card || b.SourceName != c.source {
				t.Errorf("%s: %+v, %v", b.SourceName, devices, err)
			}
			if want := c.sim && c.source == "sim"; want != reflect.DeepEqual(b.Devices, []int{0}) {
				t.Errorf("sessions use the cards %v", b.Devices)
			}
			ps, err := b.Source.Processes(t.Context(), 0)
			if err != nil || len(ps) != 1 || !strings.HasPrefix(ps[0].Command, os.Args[0]) {
				t.Fatalf("%+v, %v", ps, err)
			}
			if pid, ok := b.Local(&ps[0]); !ok || pid != me.PID {
				t.Errorf("own number %d, %v", pid, ok)
			}
		})
	}
}
