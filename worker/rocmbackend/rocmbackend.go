// Package rocmbackend makes the GPUs of this machine, through its own libamdhip64, the backend of a worker. Only session processes load
// the library: the parent never has a context on a GPU.
package rocmbackend

import (
	"flag"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/visible"
	"github.com/rocwire/rocwire/rocm"
	"github.com/rocwire/rocwire/worker"
)

// Name of the backend.
const Name = "rocm"

// New makes the parent's side. served is the list of the devices that sessions may use, as ROCR_VISIBLE_DEVICES has it, "" for all. It has no management data of its own:
// whoever opens a source of the same cards adds it.
func New(served string) (worker.Backend, error) {
	return worker.Backend{Name: Name, Args: []string{"--backend", Name, "--visible", served}, Needs: needs(os.Getenv), Own: own}, nil
}

// own is what AMD's library takes of a session process's memory for itself, its code compiler included.
const own = 2 << 30

// allowed is the list of those that a session may use; positions is nil for all.
func allowed(served string, positions []int) string {
	if positions == nil {
		return served
	}
	if len(positions) == 0 {
		return visible.None
	}
	list := make([]string, len(positions))
	for i, n := range positions {
		list[i] = strconv.Itoa(n)
	}
	return visible.Within(served, strings.Join(list, ","))
}

// Session is the session process's side. args are those of New's backend.
func Session(args []string, log *slog.Logger) (*worker.SessionProcess, error) {
	f := flag.NewFlagSet("session", flag.ContinueOnError)
	f.String("backend", Name, "")
	served := f.String("visible", "", "")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	return &worker.SessionProcess{
		Log: log,
		Open: func(s worker.Session) (worker.Opened, error) {
			// The library reads its variable once, when it is loaded; the client's choice is among what the worker serves.
			for name, v := range map[string]string{visible.ROCrVariable: visible.Within(allowed(*served, s.Cards), s.Offer.ROCrDevices), visible.HIPVariable: s.Offer.Devices} {
				err := os.Unsetenv(name) // the worker's own is part of what it serves
				if v != "" {
					err = os.Setenv(name, v)
				}
				if err != nil {
					return worker.Opened{}, err
				}
			}
			printed, err := rocm.CaptureOutput()
			if err != nil {
				return worker.Opened{}, err
			}
			rt, err := rocm.Open("")
			if err != nil {
				return worker.Opened{}, err
			}
			rt.Share(s.Broker)
			if n, code := rt.GetDeviceCount(); code != hip.Success || n == 0 {
				return worker.Opened{}, hip.ErrorNoDevice
			}
			return worker.Opened{
				Runtime: rt, Name: Name, Output: printed.To,
				Settle: func() {
					if rt.Prints() {
						printed.Settle()
					}
				},
				GivesUp: func(told func(reason string)) {
					if err := rocm.CatchCrashes(told); err != nil {
						log.Warn("a fault will end the session without a word to its client", "error", err)
					}
				},
			}, nil
		},
	}, nil
}
