// Package smisource chooses where the C libraries that programs load (librocwire.so,
// libaccelerator_amd.so) get the figures of cards from: the environment names a worker
// or the simulated card, else it is this machine's own cards.
package smisource

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/tfconnect"
	"github.com/rocwire/rocwire/internal/version"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
)

// Simulated is the address that is no worker but a simulated GPU in this process.
const Simulated = hipremote.Simulated

// How long a program that asks for figures waits for its worker. Shorter than
// HIP's: such a program runs anew every few seconds.
const (
	connectTimeout = 8 * time.Second
	ioTimeout      = 10 * time.Second
)

// Workers are the workers to ask; none and simulated for simulated cards, none for this
// machine's own cards: what AMDSMI_REMOTE says, else what TensorFusion's operator
// does where the pod's environment has its URL (which may take minutes), else
// TF_WORKER_HOST with TF_WORKER_PORT, else the default of the configuration file. What
// makes no sense is smi.ErrInvalid.
func Workers(getenv func(string) string) (list []dialing.Worker, simulated bool, err error) {
	if a := getenv("AMDSMI_REMOTE"); a != "" {
		return named(a, getenv)
	}
	host, port := getenv("TF_WORKER_HOST"), getenv("TF_WORKER_PORT")
	if port == "" {
		port = hipremote.DefaultPort
	}
	if getenv(tfconnect.URLVariable) != "" && strings.Contains(host, ",") {
		host = "" // the operator names one worker
	}
	host, port, err = tfconnect.Locate(context.Background(), getenv, logf, host, port, host != "")
	if err != nil {
		return nil, false, smi.Errorf(smi.ErrUnavailable, "%w", err)
	}
	if host == Simulated {
		return nil, true, nil
	}
	list, err = dialing.Workers(host, port, dialing.FromEnv(getenv), getenv)
	if err != nil {
		return nil, false, smi.Errorf(smi.ErrInvalid, "TF_WORKER_HOST: %w", err)
	}
	return list, false, nil
}

// named reads AMDSMI_REMOTE, which says everything about one worker.
func named(a string, getenv func(string) string) ([]dialing.Worker, bool, error) {
	if a == Simulated {
		return nil, true, nil
	}
	list, err := dialing.Workers(a, "0", dialing.FromEnv(getenv), getenv) // without a port it is none
	if err != nil || len(list) != 1 {
		return nil, false, smi.Errorf(smi.ErrInvalid, "AMDSMI_REMOTE=%q is not host:port, unix:PATH, a name in the configuration file or sim:", a)
	}
	return list, false, nil
}

// One is the one worker to ask, for a library that knows one: Workers, nil for none.
// Several are smi.ErrInvalid.
func One(getenv func(string) string) (w *dialing.Worker, simulated bool, err error) {
	list, simulated, err := Workers(getenv)
	switch {
	case err != nil || len(list) == 0:
		return nil, simulated, err
	case len(list) > 1:
		return nil, false, smi.Errorf(smi.ErrInvalid, "TF_WORKER_HOST names %d workers; this library asks one, which AMDSMI_REMOTE can name", len(list))
	}
	return &list[0], false, nil
}

func logf(format string, args ...any) { fmt.Fprintf(os.Stderr, "rocwire: "+format+"\n", args...) }

// Remote is the source of a worker's cards; library is the name of the asking library,
// for the worker to show. It connects when it is first asked.
func Remote(w dialing.Worker, library string) *smiremote.Client {
	return smiremote.NewClient(smiremote.Options{
		Address: w.Address.String(), Name: "rocwire " + library + " (" + caller() + ")", Version: version.String(),
		ConnectTimeout: connectTimeout, IOTimeout: ioTimeout, Dialing: w.Settings,
	})
}

// caller is the name of the program that this library is loaded into.
func caller() string {
	exe, err := os.Executable()
	if err != nil {
		return "?"
	}
	return filepath.Base(exe)
}

// firstOf opens the first source that can be opened. If none can, the error has the
// code of the last way's, and tells what all of them say.
func firstOf(ways []func() (smi.Source, error)) (smi.Source, error) {
	var last error
	var reasons []string
	for _, open := range ways {
		src, err := open()
		if err == nil {
			return src, nil
		}
		last = err
		reasons = append(reasons, err.Error())
	}
	if last == nil {
		last = errors.ErrUnsupported
	}
	return nil, smi.Errorf(smi.CodeOf(last), "neither AMDSMI_REMOTE nor TF_WORKER_HOST names a worker, and of this machine's cards: %s", strings.Join(reasons, "; "))
}
