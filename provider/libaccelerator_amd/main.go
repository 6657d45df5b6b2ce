// Command libaccelerator_amd is libaccelerator_amd.so, the library that a TensorFusion
// hypervisor loads for AMD cards (package provider). Build it with build.sh.
//
// # Where the cards are
//
// It asks the worker of AMDSMI_REMOTE (host:port, or unix:PATH), else that of
// TF_WORKER_HOST and TF_WORKER_PORT, else the configuration file's, else this machine's
// own cards: AMD's library, else the kernel's files. "sim:" are simulated cards inside the host: ROCWIRE_SIM_CARDS of
// the architecture ROCWIRE_SIM_ARCH.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/rocwire/rocwire/internal/smisource"
	"github.com/rocwire/rocwire/provider"
)

func init() { provider.SetOpener(open) }

// open opens the source that the environment names.
func open(log *slog.Logger) (provider.Origin, error) {
	w, simulate, err := smisource.One(os.Getenv)
	switch {
	case err != nil:
		return provider.Origin{}, err
	case simulate:
		src, err := simulated(os.Getenv)
		return provider.Origin{Source: src}, err
	case w != nil:
		worker := smisource.Remote(*w, "libaccelerator_amd")
		return provider.Origin{Source: worker, Worker: w.Address.String(), Rights: func(ctx context.Context) (provider.Rights, error) {
			info, err := worker.Server(ctx)
			if err != nil {
				return provider.Rights{}, err
			}
			return provider.Rights{Divide: info.Set, Limit: info.Quotas}, nil
		}}, nil
	}
	src, err := smisource.Local(log)
	return provider.Origin{Source: src, Local: true, Rights: func(context.Context) (provider.Rights, error) {
		return provider.Rights{Divide: os.Geteuid() == 0}, nil
	}}, err
}

func main() {}
