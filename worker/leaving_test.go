package worker_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
)

// TestLeaveBeforeTheBeginning: a client that does not wait for its session process has its place for nothing; others get it at once, whatever the way it
// came. The processes here never come up.
func TestLeaveBeforeTheBeginning(t *testing.T) {
	d := keysAt(t)
	path := filepath.Join(t.TempDir(), "w.sock")
	for name, way := range map[string]struct {
		cfg     worker.Config
		client  dialing.Settings
		noShare bool
	}{
		"TCP":           {noShare: true},
		"shared memory": {},
		"Unix socket":   {cfg: worker.Config{Socket: worker.Socket{Path: path}}},
		"TLS":           {cfg: worker.Config{TLS: serverTLS(d)}, client: dialing.Settings{TLS: clientTLS(d)}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := way.cfg
			cfg.Command, cfg.MaxSessions, cfg.Grace = []string{"/bin/sleep", "1000000"}, 2, time.Millisecond
			w := serveWith(t, cards(1), cfg, func(b *worker.Backend) { b.Args = nil })
			address := "unix:" + path
			if cfg.Socket.Path == "" {
				address = w.Addr().String()
			}
			for range 3 {
				ctx, leave := context.WithCancel(t.Context())
				ended := make(chan error, 2)
				for range 2 {
					go func() {
						o := wire.Options{Address: address, NoShare: way.noShare, Hello: wire.Hello{Purpose: worker.PurposeHIP}}
						err := way.client.Apply(&o)
						if err == nil {
							_, err = wire.Dial(ctx, o)
						}
						ended <- err
					}()
				}
				eventually(t, "both have a place", func() bool {
					select {
					case err := <-ended:
						t.Fatal("a client is not kept waiting: ", err)
					default:
					}
					return len(w.Sessions()) == 2
				})
				leave()
				for range 2 {
					if err := <-ended; err == nil || strings.Contains(err.Error(), "are taken") {
						t.Errorf("a session began, or there was no place: %v", err)
					}
				}
				eventually(t, "both places are free", func() bool { return len(w.Sessions()) == 0 })
			}
		})
	}
}

// TestProcessNeverComesUp: a client is told so, before it gives up by itself, also where it has waited for others' processes first.
func TestProcessNeverComesUp(t *testing.T) {
	cfg := worker.Config{Command: []string{"/bin/sleep", "1000000"}, StartTimeout: time.Second, Grace: time.Millisecond}
	w := serveWith(t, cards(1), cfg, func(b *worker.Backend) { b.Args = nil })
	const clients = 4
	ended := make(chan error, clients)
	for range clients {
		go func() {
			_, err := wire.Dial(t.Context(), wire.Options{Address: w.Addr().String(), Hello: wire.Hello{Purpose: worker.PurposeHIP}})
			ended <- err
		}()
	}
	for range clients {
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "a session process has not come up in time") {
			t.Errorf("it is told %v", err)
		}
	}
	eventually(t, "all places are free", func() bool { return len(w.Sessions()) == 0 })
}
