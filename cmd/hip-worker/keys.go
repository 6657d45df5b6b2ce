package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/internal/keys"
)

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

// keysCommand makes keys for TLS.
func keysCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "keys", Short: "Make keys for TLS", Long: "Makes a CA, a key for the worker and one for each client, for TLS between them (docs/tls.md).",
		Args: cobra.ArbitraryArgs, RunE: cli.NoCommand,
	}
	var hosts, clients []string
	init := makingKeys(func(d *keys.Dir, _ []string) ([]string, error) {
		if len(hosts) == 0 {
			hosts = usualHosts()
		}
		return clients, d.Init(hosts, clients)
	}, func() []string { return hosts })
	init.Use, init.Short = "init [--host NAME]... [--client NAME]...", "Make a CA, a key for the worker and one for each client"
	init.Args = cli.Words(0, 0)
	f := init.Flags()
	f.StringArrayVar(&hosts, "host", nil, "`NAME` or address that clients reach the worker by, again for more (this\nmachine's name, localhost, 127.0.0.1, ::1)")
	f.StringArrayVar(&clients, "client", nil, "make a key for a client of that `NAME`, again for more. It is\nthe user in every table and log line")
	add := makingKeys(func(d *keys.Dir, names []string) ([]string, error) {
		for _, name := range names {
			if err := d.AddClient(name); err != nil {
				return nil, err
			}
		}
		return names, nil
	}, nil)
	add.Use, add.Short, add.Args = "add-client NAME...", "Make keys for more clients", cli.Words(1, -1)
	c.AddCommand(init, add)
	return c
}

// makingKeys is a command that makes keys, of which it gives the names of clients. hosts are those of the worker, if it makes one for that.
func makingKeys(do func(*keys.Dir, []string) ([]string, error), hosts func() []string) *cobra.Command {
	var d keys.Dir
	var asJSON bool
	c := &cobra.Command{RunE: func(cmd *cobra.Command, args []string) error {
		if d.Days < 1 {
			return cli.Usagef("--days %d is not more than 0", d.Days)
		}
		clients, err := do(&d, args)
		if err != nil {
			return err
		}
		var worker []string
		if hosts != nil {
			worker = hosts()
		}
		return tellKeys(cmd.OutOrStdout(), &d, worker, clients, asJSON)
	}}
	f := c.Flags()
	f.StringVar(&d.Path, "dir", "rocwire-keys", "where to, a `DIR`. ca.key stays with whoever lets clients in; a client\nneeds ca.crt and its own two files")
	f.IntVar(&d.Days, "days", 365, "for how long the certificates are good; the CA's is for ten years")
	f.BoolVar(&d.Force, "force", false, "write over files that are there")
	f.BoolVar(&asJSON, "json", false, "say what was made as JSON")
	return c
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
func tellKeys(out io.Writer, d *keys.Dir, hosts, clients []string, asJSON bool) error {
	worker := hosts != nil
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
		w.printf("worker, reached as %s:\n  hip-worker --listen 0.0.0.0 --tls-cert %s --tls-key %s --tls-client-ca %s\n", hosts[0], m.Worker[1], m.Worker[3], m.Worker[5])
		w.printf("  (with --token-file in place of --tls-client-ca clients need a token, and no key of their own)\n")
	}
	host := "HOST" // as whoever adds clients knows
	if worker {
		host = hosts[0]
	}
	for _, c := range m.Clients {
		e := c.Environment
		w.printf("client %s, wherever it has these files:\n  export TF_WORKER_HOST=%s TF_WORKER_TLS_CA=%s\n  export TF_WORKER_TLS_CERT=%s TF_WORKER_TLS_KEY=%s\n",
			c.Name, host, e["TF_WORKER_TLS_CA"], e["TF_WORKER_TLS_CERT"], e["TF_WORKER_TLS_KEY"])
	}
	if worker && len(clients) == 0 {
		w.printf("client:\n  export TF_WORKER_HOST=%s TF_WORKER_TLS_CA=%s\n", host, m.CA)
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
