package fleet

import (
	"fmt"
	"slices"

	"github.com/rocwire/rocwire/discovery"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/workerlist"
)

// Worker is one worker to ask.
type Worker struct {
	dialing.Worker
	// Shown is what people call it: its name in the configuration file, or what has found it says; "" if neither does.
	Shown string
	// Node is the node of Kubernetes that it runs on; "" if what has found it does not say.
	Node string
}

// Of are workers that were named.
func Of(list []dialing.Worker) []Worker {
	all := make([]Worker, len(list))
	for i, w := range list {
		all[i] = Worker{Worker: w, Shown: w.Name}
	}
	return all
}

// Resolve says how the workers that were found are connected to: as the configuration file says of the one with this address, and as over does of others,
// and before the file, field by field.
func Resolve(found []discovery.Target, over dialing.Settings, getenv func(string) string) ([]Worker, error) {
	named, err := dialing.Named(over, getenv)
	if err != nil {
		return nil, err
	}
	known := make(map[workerlist.Address]dialing.Worker, len(named))
	for _, w := range named {
		if _, twice := known[w.Address]; !twice {
			known[w.Address] = w
		}
	}
	var all []Worker
	for i := range found {
		t := &found[i]
		a, err := workerlist.Parse(t.Address, workerlist.DefaultPort)
		if err != nil {
			return nil, fmt.Errorf("a worker was found at %q: %w", t.Address, err)
		}
		w, ok := known[a]
		if !ok {
			w = dialing.Worker{Address: a, Settings: over}
		}
		shown := w.Name
		if shown == "" {
			shown = t.Name()
		}
		all = append(all, Worker{Worker: w, Shown: shown, Node: t.Node()})
	}
	return all, nil
}

// Join is a and b, each worker once: of those at one address the first, by whatever names it is called. To rocwire-dra, two would have each card twice.
func Join(a, b []Worker) []Worker {
	return workerlist.Once(slices.Concat(a, b), func(w *Worker) workerlist.Address { return w.Address })
}
