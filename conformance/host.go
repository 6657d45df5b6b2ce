package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rocwire/rocwire/conformance/internal/debroot"
)

// host is where Debian's programs run: their tree, our libraries before all others, and a worker.
type host struct {
	o     *options
	w     *worker
	libs  []string // folders of the tree with more libraries
	env   []string
	limit time.Duration // for one case
	root  *debroot.Root // nil: programs run where they lie, by the tree's loader
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
	var l []string
	for _, a := range args {
		l = append(l, in.Replace(a))
	}
	var cmd *exec.Cmd
	env := append(os.Environ(), "TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT="+h.w.port)
	if h.root != nil {
		cmd = h.root.Command(ctx, "/"+program, l...)
	} else {
		l = append(append(h.loader(), filepath.Join(h.o.tree, program)), l...)
		cmd = exec.CommandContext(ctx, l[0], l[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	for _, e := range h.env {
		env = append(env, in.Replace(e))
	}
	cmd.Env = env
	// Programs start others, which must not outlive them.
	cmd.SysProcAttr.Setpgid = true
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// enter gives the host's programs the tree as their root, in which the folders of results, libraries and temporary files are where they are here.
func (h *host) enter(ctx context.Context, links func(*options) (map[string]string, error)) (leave func(), err error) {
	kept := filepath.Join(h.o.tree, lists)
	if err := os.MkdirAll(kept, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "rocwire-root-")
	if err != nil {
		return nil, err
	}
	leave = func() { _ = os.Remove(dir) }
	h.root = &debroot.Root{Tree: h.o.tree, Dir: dir, Shared: []string{kept, h.o.lib, os.TempDir()}, Env: []string{"PATH=/usr/bin:/usr/sbin", "LD_LIBRARY_PATH=" + h.libraryPath()}}
	if links != nil {
		h.root.Links, err = links(h.o)
	}
	if err == nil {
		err = h.root.Try(ctx)
	}
	if err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}
