package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rocwire/rocwire/internal/keys"
)

// keysCommand is the first argument that makes keys for TLS.
const keysCommand = "keys"

const keysUsage = `Usage: hip-worker keys init [--host NAME]... [--client NAME]... [flags]
       hip-worker keys add-client NAME... [flags]

init makes a CA, a key for the worker and one for each client, for TLS between them (docs/tls.md). add-client makes keys for more clients.

  --host NAME   name or address that clients reach the worker by, again for more (this machine's name, localhost, 127.0.0.1, ::1)
  --client NAME make a key for a client of that name, again for more. The name is the user in every table and log line
  --dir DIR     where to (rocwire-keys). ca.key stays with whoever lets clients in; a client needs ca.crt and its own two files
  --days N      for how long the certificates are good (365; the CA's is for ten years)
  --force       write over files that are there
  --json        say what was made as JSON
  -h, --help    print this
`

// names collects a flag that is given several times.
type names []string

func (n *names) String() string     { return fmt.Sprint([]string(*n)) }
func (n *names) Set(s string) error { *n = append(*n, s); return nil }

// made is what a command has made, for --json.
type made struct {
	CA      string       `json:"ca"`
	Worker  []string     `json:"worker_arguments,omitempty"`
	Clients []clientKeys `json:"clients"`
}

// clientKeys are a client's files, and what its environment needs to name them.
type clientKeys struct {
	Name        string            `json:"name"`
	Environment map[string]string `json:"environment"`
}

var errUsage = errors.New("wrong arguments; hip-worker keys --help lists them")

// makeKeys runs hip-worker keys.
func makeKeys(args []string, out io.Writer) error {
	command := ""
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	if command == "-h" || command == "--help" || command == "" {
		_, err := fmt.Fprint(out, keysUsage)
		return err
	}
	var d keys.Dir
	var hosts, clients names
	var asJSON bool
	f := flag.NewFlagSet("keys", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&d.Path, "dir", "rocwire-keys", "")
	f.IntVar(&d.Days, "days", 365, "")
	f.BoolVar(&d.Force, "force", false, "")
	f.BoolVar(&asJSON, "json", false, "")
	if command == "init" {
		f.Var(&hosts, "host", "")
		f.Var(&clients, "client", "")
	}
	rest, err := interspersed(f, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err := fmt.Fprint(out, keysUsage)
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", errUsage, err)
	case d.Days < 1:
		return fmt.Errorf("%w: --days %d", errUsage, d.Days)
	case command == "init" && len(rest) == 0:
		if len(hosts) == 0 {
			hosts = usualHosts()
		}
		err = d.Init(hosts, clients)
	case command == "add-client" && len(rest) > 0:
		clients = rest
		for _, name := range clients {
			if err = d.AddClient(name); err != nil {
				break
			}
		}
	default:
		return errUsage
	}
	if err != nil {
		return err
	}
	return tellKeys(out, &d, command == "init", hosts, clients, asJSON)
}

// interspersed parses flags that may stand before, between and behind other words.
func interspersed(f *flag.FlagSet, args []string) (words []string, err error) {
	for {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		if f.NArg() == 0 {
			return words, nil
		}
		words, args = append(words, f.Arg(0)), f.Args()[1:]
	}
}

// usualHosts is how a worker is reached if nobody says.
func usualHosts() []string {
	list := []string{"localhost", "127.0.0.1", "::1"}
	if h, err := os.Hostname(); err == nil && h != "localhost" {
		return append([]string{h}, list...)
	}
	return list
}

// tellKeys says what was made and how to use it.
func tellKeys(out io.Writer, d *keys.Dir, worker bool, hosts, clients []string, asJSON bool) error {
	path, err := filepath.Abs(d.Path)
	if err != nil {
		return err
	}
	at := keys.Dir{Path: path}
	m := made{CA: at.Cert(keys.CA), Clients: []clientKeys{}}
	if worker {
		m.Worker = []string{"--tls-cert", at.Cert(keys.Server), "--tls-key", at.Key(keys.Server), "--tls-client-ca", at.Cert(keys.CA)}
	}
	for _, c := range clients {
		m.Clients = append(m.Clients, clientKeys{c, map[string]string{
			"TF_WORKER_TLS_CA": at.Cert(keys.CA), "TF_WORKER_TLS_CERT": at.Cert(keys.Client(c)), "TF_WORKER_TLS_KEY": at.Key(keys.Client(c)),
		}})
	}
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(m)
	}
	w := &lines{w: out}
	if worker {
		w.printf("worker, reached as %s:\n  hip-worker --tls-cert %s --tls-key %s --tls-client-ca %s\n", hosts[0], m.Worker[1], m.Worker[3], m.Worker[5])
		w.printf("  (without --tls-client-ca clients need no key of their own)\n")
	}
	for _, c := range m.Clients {
		e := c.Environment
		w.printf("client %s, wherever it has these files:\n  export TF_WORKER_TLS_CA=%s\n  export TF_WORKER_TLS_CERT=%s TF_WORKER_TLS_KEY=%s\n",
			c.Name, e["TF_WORKER_TLS_CA"], e["TF_WORKER_TLS_CERT"], e["TF_WORKER_TLS_KEY"])
	}
	if worker && len(clients) == 0 {
		w.printf("client:\n  export TF_WORKER_TLS_CA=%s\n", m.CA)
	}
	w.printf("keep %s secret: whoever has it can let clients in\n", at.Key(keys.CA))
	return w.err
}

// lines keeps the first error.
type lines struct {
	w   io.Writer
	err error
}

func (l *lines) printf(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, format, args...)
	}
}

// keysMain is makeKeys as a program; it gives the exit code.
func keysMain(args []string) int {
	err := makeKeys(args, os.Stdout)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "hip-worker keys:", err)
	if errors.Is(err, errUsage) {
		return exitUsage
	}
	return exitFailure
}
