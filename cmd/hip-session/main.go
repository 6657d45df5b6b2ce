// Command hip-session is what hip-worker starts for each client: it serves one session and ends. It is a program of its own because there are many
// of them, and nothing of what a worker exports and listens to belongs into a process that executes what strangers send. People do not start it.
package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/rocwire/rocwire/internal/version"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/rocmbackend"
	"github.com/rocwire/rocwire/worker/simbackend"
)

func main() {
	args, level := os.Args[1:], slog.LevelInfo
	const purpose = "hip-session is started by hip-worker, for each client; people do not start it"
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, purpose)
		os.Exit(2)
	}
	if args[0] == "--version" {
		fmt.Println("hip-session", version.String())
		return
	}
	if args[0] == "-h" || args[0] == "--help" {
		fmt.Println(purpose)
		return
	}
	if args[0] == "-v" {
		args, level = args[1:], slog.LevelDebug
	}
	if len(args) == 0 || args[0] != "--backend" {
		fmt.Fprintf(os.Stderr, "hip-session: %q is nothing that hip-worker says: %s\n", args, purpose)
		os.Exit(2)
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	p, err := open(args, log)
	if err == nil {
		p.Version = version.String()
		err = p.Run()
	}
	if err != nil {
		log.Error("session process", "error", err)
		os.Exit(1)
	}
}

func open(args []string, log *slog.Logger) (*worker.SessionProcess, error) {
	if len(args) > 1 && args[0] == "--backend" && args[1] == rocmbackend.Name {
		return rocmbackend.Session(args, log)
	}
	return simbackend.Session(args, log)
}
