package dialing

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/internal/workerlist"
)

// Worker is one worker to connect to, and how.
type Worker struct {
	workerlist.Address
	Settings
	Name string // in the configuration file; "" if it is not there
	// Reconnect is how long a connection to it that was cut is tried to be made again; nil if the file does not say.
	Reconnect *time.Duration
}

// Label is what people call it.
func (w *Worker) Label() string {
	if w.Name != "" {
		return w.Name
	}
	return w.Address.String()
}

// Workers reads a list of workers, with commas in between: names of the configuration file, and what package workerlist knows. An empty list is the
// file's default; nil if it has none. port is that of hosts without one, outside of the file, and over goes before what the file says, field by field.
func Workers(list, port string, over Settings, getenv func(string) string) (all []Worker, err error) {
	f, err := openFile(getenv)
	if err != nil {
		return nil, err
	}
	if list == "" {
		list = f.Default
	}
	if list == "" {
		return nil, nil
	}
	for s := range strings.SplitSeq(list, ",") {
		w, err := f.worker(strings.TrimSpace(s), port, over)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// worker reads one of a list.
func (f *file) worker(s, port string, over Settings) (w Worker, err error) {
	e, named := f.Workers[s]
	if !named {
		w.Settings = over
		w.Address, err = workerlist.Parse(s, port)
		return w, err
	}
	w.Name, w.Settings = s, over.over(e.settings())
	if w.Address, err = workerlist.Parse(e.Address, workerlist.DefaultPort); err != nil {
		err = fmt.Errorf("%s: worker %s: %w", e.from, s, err)
	}
	w.Reconnect, _ = e.reconnect() // it was checked
	return w, err
}

// over is s and, where that says nothing, t.
func (s Settings) over(t Settings) Settings {
	if s.TokenFile == "" {
		s.TokenGiven = t.TokenGiven
	}
	for _, f := range [][2]*string{
		{&s.TokenFile, &t.TokenFile}, {&s.TLS.Use, &t.TLS.Use}, {&s.TLS.CA, &t.TLS.CA}, {&s.TLS.Cert, &t.TLS.Cert}, {&s.TLS.Key, &t.TLS.Key},
		{&s.TLS.ServerName, &t.TLS.ServerName},
	} {
		if *f[0] == "" {
			*f[0] = *f[1]
		}
	}
	return s
}

// Named are all workers of the configuration file, by name; none if there is no file.
func Named(over Settings, getenv func(string) string) (all []Worker, err error) {
	f, err := openFile(getenv)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(f.Workers)) {
		w, err := f.worker(name, workerlist.DefaultPort, over)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}
