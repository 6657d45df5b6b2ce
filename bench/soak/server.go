package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/smiremote"
)

// park is how long the worker keeps sessions for clients that were killed.
const park = 5 * time.Second

// server is the worker under test, a process.
type server struct {
	cmd     *exec.Cmd
	address string // host:port
	socket  string
	metrics string // URL
	token   string // file that lets in
	log     string // file
	smi     *smiremote.Client
	done    chan error
}

// buildServer builds the worker from the tree in the current directory.
func buildServer(dir string) error {
	build := exec.Command("go", "build", "-o", dir+"/", "./cmd/hip-worker", "./cmd/hip-session")
	build.Stderr = os.Stderr
	return build.Run()
}

// startServer starts it with one simulated card, places for so many clients, and a token that it knows.
func startServer(dir string, clients int) (*server, error) {
	w := &server{socket: filepath.Join(dir, "worker.sock"), token: filepath.Join(dir, "soak.token"), log: filepath.Join(dir, "worker.log"), done: make(chan error, 1)}
	bin := filepath.Join(dir, "hip-worker")
	entry, err := exec.Command(bin, "token", "new", "soak", "--out", w.token).Output()
	if err != nil {
		return nil, fmt.Errorf("a token: %w", err)
	}
	tokens := filepath.Join(dir, "tokens.yaml")
	log, err1 := os.Create(w.log)
	if err := errors.Join(err1, os.WriteFile(tokens, append([]byte("tokens:\n"), entry...), 0o600)); err != nil {
		return nil, err
	}
	defer log.Close()
	places := fmt.Sprint(min(2*clients+64, simgpu.DefaultSessions-64)) // those of clients that were killed stay for a while, and the cards have one for each process, also one that is about to end
	w.cmd = exec.Command(bin, "--backend", "sim", "--sim-memory", "16G", "--listen", "127.0.0.1", "--listen", "unix:"+w.socket, "--port", "0", "--metrics-addr", "127.0.0.1:0",
		"--token-file", tokens, "--park", park.String(), "--max-sessions", places, "--max-sessions-per-address", places, "--max-sessions-per-user", places,
		"--max-startups", fmt.Sprintf("%d:30:%d", 2*clients+256, 4*clients+512))
	w.cmd.Stderr = log
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM} // Ctrl-C is for the soak
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && (w.address == "" || w.metrics == "") {
		l := lines.Text()
		var host, port string
		if _, err := fmt.Sscanf(l, "hip-worker listening on %s port %s", &host, &port); err == nil {
			w.address = host + ":" + port
		}
		if url, ok := strings.CutPrefix(l, "metrics at "); ok {
			w.metrics = url
		}
		if w.address != "" && w.metrics != "" {
			break
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, out)
		w.done <- w.cmd.Wait()
	}()
	if w.address == "" || w.metrics == "" {
		err := <-w.done
		text, _ := os.ReadFile(w.log)
		return nil, fmt.Errorf("the worker did not start: %v\n%s", err, text)
	}
	w.smi = smiremote.NewClient(smiremote.Options{Address: "unix:" + w.socket, Name: "soak"})
	return w, nil
}

// stop ends the worker in order.
func (w *server) stop() error {
	_ = w.smi.Close()
	_ = w.cmd.Process.Signal(os.Interrupt)
	select {
	case err := <-w.done:
		return err
	case <-time.After(time.Minute):
		_ = w.cmd.Process.Kill()
		return errors.Join(errors.New("the worker does not end"), <-w.done)
	}
}
