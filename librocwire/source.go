package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
)

// How long a program that asks for figures waits for its worker. Shorter than
// HIP's: such a program runs anew every few seconds.
const (
	connectTimeout = 8 * time.Second
	ioTimeout      = 10 * time.Second
)

// openSource is the source that the environment names.
func openSource() (smi.Source, error) {
	address, err := workerAddress(os.Getenv)
	switch {
	case err != nil:
		return nil, err
	case address == simulated:
		return simSource()
	case address != "":
		return smiremote.NewClient(smiremote.Options{
			Address: address, Name: "rocwire libamd_smi (" + caller() + ")", Version: hipremote.Version,
			ConnectTimeout: connectTimeout, IOTimeout: ioTimeout,
		}), nil
	}
	return firstOf(local)
}

// workerAddress is the worker to ask, "sim:" or "" for this machine's own cards.
func workerAddress(getenv func(string) string) (string, error) {
	if a := getenv("AMDSMI_REMOTE"); a != "" {
		if a == simulated || strings.HasPrefix(a, "unix:") && len(a) > len("unix:") {
			return a, nil
		}
		if host, port, err := net.SplitHostPort(a); err != nil || host == "" || port == "" {
			return "", smi.Errorf(smi.ErrInvalid, "AMDSMI_REMOTE=%q is not host:port, unix:PATH or sim:", a)
		}
		return a, nil
	}
	host := getenv("TF_WORKER_HOST")
	if host == "" || host == simulated || strings.HasPrefix(host, "unix:") {
		return host, nil
	}
	port := getenv("TF_WORKER_PORT")
	if port == "" {
		port = hipremote.DefaultPort
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port), nil
}

// caller is the name of the program that this library is loaded into.
func caller() string {
	exe, err := os.Executable()
	if err != nil {
		return "?"
	}
	return filepath.Base(exe)
}
