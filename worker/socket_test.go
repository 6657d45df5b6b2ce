package worker_test

import (
	"context"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// socketAt is a worker that listens on a Unix socket only.
func socketAt(t *testing.T, s worker.Socket) *worker.Server {
	t.Helper()
	cfg := config()
	cfg.Listen, cfg.Socket = "", s
	return serve(t, cards(1), cfg)
}

// TestSocket: calls and questions through a Unix socket, as the environment names it; who the client is, is what the kernel says.
func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.sock")
	w := socketAt(t, worker.Socket{Path: path})
	if w.Addr() != nil {
		t.Errorf("it listens on %v, too", w.Addr())
	}
	all := hipremote.AllFromEnv(func(name string) (string, bool) {
		if name == "TF_WORKER_HOST" {
			return "unix:" + path, true
		}
		return "", false
	})
	if len(all) != 1 {
		t.Fatalf("%d workers", len(all))
	}
	all[0].Logf = t.Logf
	c := hipremote.New(all[0])
	p, e := c.Malloc(main0, 1<<20)
	must(t, "Malloc", e)
	must(t, "Memset", c.Memset(main0, p, 7, 1<<20))
	m := smiremote.NewClient(smiremote.Options{Address: "unix:" + path})
	defer m.Close()
	list, err := m.Sessions(t.Context())
	if err != nil || len(list.Sessions) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if got := list.Sessions[0].Client; got.PID != uint32(os.Getpid()) || got.User != me.Username || !strings.Contains(got.Address, "uid "+me.Uid) {
		t.Errorf("%+v", got)
	}
	if err := m.KillSession(t.Context(), list.Sessions[0].ID); err != nil {
		t.Errorf("this process's own user may not end sessions: %v", err)
	}
	if e := c.DeviceSynchronize(main0); e == hip.Success {
		t.Error("the session goes on")
	}
	_ = c.Close()
	w.Close()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left behind: %v", err)
	}
}

// TestSocketClaims: what a client says of itself does not go before what the kernel says.
func TestSocketClaims(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.sock")
	w := socketAt(t, worker.Socket{Path: path})
	c, err := wire.Dial(context.Background(), wire.Options{Address: "unix:" + path, Hello: wire.Hello{Purpose: "hip", PID: 1, User: "somebody else"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if s := w.Sessions(); len(s) != 1 || s[0].Client.PID != uint32(os.Getpid()) || s[0].Client.User == "somebody else" {
		t.Errorf("%+v", s)
	}
}

// TestSocketUsers: only who is named may connect, root not excepted.
func TestSocketUsers(t *testing.T) {
	uid, gid := uint32(os.Getuid()), uint32(os.Getgid())
	for name, c := range map[string]struct {
		socket worker.Socket
		want   bool
	}{
		"user": {worker.Socket{Users: []uint32{uid + 1, uid}}, true}, "group": {worker.Socket{Users: []uint32{uid + 1}, Groups: []uint32{gid}}, true},
		"other user": {worker.Socket{Users: []uint32{uid + 1}}, false}, "other group": {worker.Socket{Groups: []uint32{gid + 12345}}, false},
	} {
		c.socket.Path = filepath.Join(t.TempDir(), "w.sock")
		socketAt(t, c.socket)
		for _, purpose := range []string{"hip", "smi"} {
			conn, err := wire.Dial(context.Background(), wire.Options{Address: "unix:" + c.socket.Path, Hello: wire.Hello{Purpose: purpose}})
			if err == nil {
				_ = conn.Close()
			}
			if (err == nil) != c.want {
				t.Errorf("%s, %s: %v", name, purpose, err)
			}
			if !c.want && (!errors.Is(err, wire.ErrRefused) || !strings.Contains(err.Error(), "uid "+strconv.Itoa(os.Getuid()))) {
				t.Errorf("%s, %s: %v", name, purpose, err)
			}
		}
	}
}

// TestSocketInTheWay: a dead worker's socket is replaced, a live one's is not, and what is no socket never.
func TestSocketInTheWay(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "w.sock")
	w := socketAt(t, worker.Socket{Path: path})
	b, err := simbackend.New(cards(1), testLog())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Source.Close()
	if _, err := worker.New(worker.Config{Socket: worker.Socket{Path: path}, Backend: b}); !errors.Is(err, worker.ErrPortInUse) {
		t.Errorf("a socket in use: %v", err)
	}
	dead := filepath.Join(dir, "dead.sock")
	if err := os.Link(path, dead); err != nil {
		t.Fatal(err)
	}
	w.Close() // removes path; dead has nobody behind it
	socketAt(t, worker.Socket{Path: dead})
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := worker.New(worker.Config{Socket: worker.Socket{Path: file}, Backend: b}); err == nil {
		t.Error("a file was replaced")
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
}
