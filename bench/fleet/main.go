// Command fleet measures what a fleet of workers costs as it grows: finding its workers, scraping them through one exporter, asking all of them with
// smi-remote, publishing their cards as ResourceSlices. It prints the curves, and the first limit that each of these meets, which it looks for by going on.
//
// # What is real
//
// The programs that are measured: gpu-exporter, smi-remote and rocwire-dra, built from this tree, each a process of its own; package discovery. Every connection is one of
// TCP, to an address of the worker's own (127.16.0.1, 127.16.0.2, …), and what goes over it is what hip-worker's management answers: package smiremote, in front
// of 8 cards that tell all there is to tell. A client is a connection with the handshake of a HIP session, open as long as the measurement, and the
// worker tells of it as hip-worker does: in its sessions, and as a process on a card.
//
// # What is not
//
// All workers are one process, all clients a few others: a thousand of hip-worker would not fit into a small machine. There is no card and no session process
// behind them, figures are computed instead of read, and a client makes no calls. There is no TLS and no network but loopback; the workers and what asks them
// share the processors, so that times are longer than they would be, and processor time is what to go by.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// options say what is measured.
type options struct {
	workers  []int         // sizes of the fleet
	clients  int           // at most; ten of each worker below that
	length   time.Duration // after which no larger fleet is begun
	interval time.Duration // of scrapes
	push     bool          // go on beyond the last size until something is at its end
	patience time.Duration // with an answer, before it counts as none
	bin      string        // programs that are built already
	idle     time.Duration // after which the exporter lets a worker go

	only       []string  // what is measured; none: all
	kubeconfig string    // of a cluster to publish the cards in; "": none
	beside     []*beside // programs whose costs are told as well, such as the cluster's
	log        io.Writer // for progress
}

// measured is what there is to measure.
var measured = []string{discovering, asking, exporting, clustering}

const (
	discovering = "discovery"
	asking      = "smi-remote"
	exporting   = "exporter"
	clustering  = "cluster"
)

// wants reports whether something is to be measured.
func (o *options) wants(what string) bool { return len(o.only) == 0 || slices.Contains(o.only, what) }

const usage = `Usage: go run ./bench/fleet [flags], from the root of the tree

Measures what fleets of simulated workers cost: discovery, scrapes through one exporter, smi-remote fleet, and in
a cluster's control plane rocwire-dra publish and claims. Prints the curves and the first limits met. Every worker
has 8 cards, and 10 clients. Takes ten minutes and up to 8 GiB; what is told of processors and memory holds where
the machine is busy, too.

  --workers N,N,…     sizes of the fleet (10,30,100,300,1000)
  --clients N         clients at most, ten of each worker (10000)
  --interval TIME     how often Prometheus scrapes (15s)
  --push=false        do not go on with larger fleets until something is at its end
  --for TIME          begin with no larger fleet after this time (15m)
  --only WHAT,…       measure only these: discovery, smi-remote, exporter, cluster
  --patience TIME     how long an answer may take before it counts as none (5m)
  --bin DIR           gpu-exporter, smi-remote and rocwire-dra that are built already
  --kubeconfig FILE   a control plane with nodes and the device class gpu.rocwire.io but no ResourceSlices of
                      rocwire.io, where cards are published and claimed: deploy/cluster/dra starts one
  --beside NAME=PID   … a program whose costs are told as well, such as the API server; may be given several times
`

func main() {
	if len(os.Args) > 1 && (os.Args[1] == serveWorkers || os.Args[1] == serveClients) {
		if err := serve(os.Args[1]); err != nil {
			fmt.Fprintf(os.Stderr, "fleet %s: %v\n", os.Args[1], err)
			os.Exit(1)
		}
		return
	}
	o := options{workers: []int{10, 30, 100, 300, 1000}, idle: time.Hour, log: os.Stderr}
	flag.Func("workers", "", func(s string) error {
		o.workers = nil
		for f := range strings.SplitSeq(s, ",") {
			n, err := strconv.Atoi(f)
			if err != nil || n < 1 || n > maxWorkers || len(o.workers) > 0 && n <= o.workers[len(o.workers)-1] {
				return fmt.Errorf("%q: numbers from 1 to %d that grow, with commas between", s, maxWorkers)
			}
			o.workers = append(o.workers, n)
		}
		return nil
	})
	flag.IntVar(&o.clients, "clients", 10_000, "")
	flag.DurationVar(&o.interval, "interval", 15*time.Second, "")
	flag.BoolVar(&o.push, "push", true, "")
	flag.DurationVar(&o.length, "for", 15*time.Minute, "")
	flag.DurationVar(&o.patience, "patience", 5*time.Minute, "")
	flag.StringVar(&o.bin, "bin", "", "")
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "")
	flag.Func("only", "", func(s string) error {
		o.only = strings.Split(s, ",")
		for _, what := range o.only {
			if !slices.Contains(measured, what) {
				return fmt.Errorf("%q is none of %s", what, strings.Join(measured, ", "))
			}
		}
		return nil
	})
	flag.Func("beside", "", func(s string) error {
		name, number, _ := strings.Cut(s, "=")
		pid, err := strconv.Atoi(number)
		if err != nil || name == "" || pid < 1 {
			return fmt.Errorf("%q: a name, = and the number of a process", s)
		}
		o.beside = append(o.beside, &beside{name: name, process: process{pid}})
		return nil
	})
	flag.Usage = func() { fmt.Print(usage) }
	flag.Parse()
	if flag.NArg() > 0 || o.clients < 0 || o.interval < time.Second || o.patience <= 0 || o.length <= 0 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // whoever says it twice means it
	r, err := run(ctx, o)
	if r != nil {
		r.print(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be undone
	}
}
