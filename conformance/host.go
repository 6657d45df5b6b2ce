package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// host is where Debian's programs run: their tree, our libraries before all others, and a worker.
type host struct {
	o     *options
	w     *worker
	libs  []string // folders of the tree with more libraries
	env   []string
	limit time.Duration // for one case
}

// libraryPath is where programs of the tree find their libraries, ours first.
func (h *host) libraryPath() string {
	dirs := []string{h.o.lib}
	for _, l := range h.libs {
		if !filepath.IsAbs(l) {
			l = filepath.Join(h.o.tree, l)
		}
		dirs = append(dirs, l)
	}
	return strings.Join(append(dirs, filepath.Join(h.o.tree, "usr/lib/x86_64-linux-gnu")), ":")
}

// loader is what starts a program of the tree: the tree's own, as this machine's C library may be older.
func (h *host) loader() []string {
	return []string{filepath.Join(h.o.tree, "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", h.libraryPath()}
}

// command is a program of the tree with arguments, over the worker. {tree} stands for the tree's folder.
func (h *host) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	in := strings.NewReplacer("{tree}", h.o.tree)
	l := append(h.loader(), filepath.Join(h.o.tree, program))
	for _, a := range args {
		l = append(l, in.Replace(a))
	}
	cmd := exec.CommandContext(ctx, l[0], l[1:]...)
	cmd.Env = append(os.Environ(), "TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT="+h.w.port)
	for _, e := range h.env {
		cmd.Env = append(cmd.Env, in.Replace(e))
	}
	// Programs start others, which must not outlive them.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// wrap sets variables to scripts that start programs of the tree as command does: the tested programs would start them with this machine's C library.
func (h *host) wrap(programs map[string]string) (remove func(), err error) {
	if len(programs) == 0 {
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "rocwire-conformance-")
	if err != nil {
		return nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	for name, pattern := range programs {
		found, err := filepath.Glob(filepath.Join(h.o.tree, pattern))
		if err != nil || len(found) != 1 {
			remove()
			return nil, fmt.Errorf("%s: %d files in %s (%v)", pattern, len(found), h.o.tree, err)
		}
		script := filepath.Join(dir, filepath.Base(found[0]))
		text := "#!/bin/sh\nexec '" + strings.Join(append(h.loader(), found[0]), "' '") + "' \"$@\"\n"
		if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
			remove()
			return nil, err
		}
		h.env = append(h.env, name+"="+script)
	}
	return remove, nil
}
