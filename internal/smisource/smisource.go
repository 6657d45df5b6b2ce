// Package smisource chooses where the C libraries that programs load (librocwire.so,
// libaccelerator_amd.so) get the figures of cards from: the environment names a worker
// or the simulated card, else it is this machine's own cards.
package smisource

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/tfconnect"
	"github.com/rocwire/rocwire/internal/workerlist"
	"github.com/rocwire/rocwire/rocm/amdsmi"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/sysfs"
)

// Simulated is the address that is no worker but a simulated GPU in this process.
const Simulated = hipremote.Simulated

// How long a program that asks for figures waits for its worker. Shorter than
// HIP's: such a program runs anew every few seconds.
const (
	connectTimeout = 8 * time.Second
	ioTimeout      = 10 * time.Second
)

// Addresses are the workers to ask, each host:port or unix:PATH; Simulated alone; or none
// for this machine's own cards: what AMDSMI_REMOTE says, else what TensorFusion's operator
// does where the pod's environment has its URL (which may take minutes), else
// TF_WORKER_HOST with TF_WORKER_PORT. What makes no sense is smi.ErrInvalid.
func Addresses(getenv func(string) string) ([]string, error) {
	if a := getenv("AMDSMI_REMOTE"); a != "" {
		if a == Simulated || strings.HasPrefix(a, "unix:") && len(a) > len("unix:") {
			return []string{a}, nil
		}
		if host, port, err := net.SplitHostPort(a); err != nil || host == "" || port == "" {
			return nil, smi.Errorf(smi.ErrInvalid, "AMDSMI_REMOTE=%q is not host:port, unix:PATH or sim:", a)
		}
		return []string{a}, nil
	}
	host, port := getenv("TF_WORKER_HOST"), getenv("TF_WORKER_PORT")
	if port == "" {
		port = hipremote.DefaultPort
	}
	if getenv(tfconnect.URLVariable) != "" && strings.Contains(host, ",") {
		host = "" // the operator names one worker
	}
	host, port, err := tfconnect.Locate(context.Background(), getenv, logf, host, port, host != "")
	if err != nil {
		return nil, smi.Errorf(smi.ErrUnavailable, "%w", err)
	}
	switch {
	case host == "":
		return nil, nil
	case host == Simulated:
		return []string{host}, nil
	}
	list, err := workerlist.Split(host, port)
	if err != nil {
		return nil, smi.Errorf(smi.ErrInvalid, "TF_WORKER_HOST: %w", err)
	}
	var addresses []string
	for _, a := range list {
		addresses = append(addresses, a.String())
	}
	return addresses, nil
}

// Address is the one worker to ask, for a library that knows one: Addresses, "" for none.
// Several are smi.ErrInvalid.
func Address(getenv func(string) string) (string, error) {
	list, err := Addresses(getenv)
	switch {
	case err != nil || len(list) == 0:
		return "", err
	case len(list) > 1:
		return "", smi.Errorf(smi.ErrInvalid, "TF_WORKER_HOST names %d workers; this library asks one, which AMDSMI_REMOTE can name", len(list))
	}
	return list[0], nil
}

func logf(format string, args ...any) { fmt.Fprintf(os.Stderr, "rocwire: "+format+"\n", args...) }

// Remote is the source of a worker's cards; library is the name of the asking library,
// for the worker to show. It connects when it is first asked.
func Remote(address, library string) *smiremote.Client {
	return smiremote.NewClient(smiremote.Options{
		Address: address, Name: "rocwire " + library + " (" + caller() + ")", Version: hipremote.Version,
		ConnectTimeout: connectTimeout, IOTimeout: ioTimeout, Dialing: dialing.FromEnv(os.Getenv),
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

// Local opens the source of this machine's own cards: AMD's library, else the kernel's
// files. Package amdsmi refuses a libamd_smi that leads to librocwire.so, which is one
// by name. log gets what is worth knowing.
func Local(log *slog.Logger) (smi.Source, error) {
	return firstOf([]func() (smi.Source, error){
		func() (smi.Source, error) { return amdsmi.Open(amdsmi.Options{Log: log}) },
		func() (smi.Source, error) { return sysfs.Open(sysfs.Options{Log: log}) },
	})
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
