package worker

import (
	"errors"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/internal/loglimit"
	"github.com/rocwire/rocwire/wire"
)

// hangupGrace is how long after the client has gone a session may take to execute what it has still sent.
const hangupGrace = 3 * time.Second

// watchHangup tells the connection when the client is gone and the line does not notice, because something on it never ends. fd is a duplicate of the
// client's socket, which is in use since so many cuts.
func watchHangup(fd int, conn *wire.ServerConn, cuts uint64) {
	for {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		if n, err := unix.Poll(p, -1); n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = unix.Close(fd) // or the client would not see the end of the connection
	time.Sleep(hangupGrace)
	conn.HungUp(cuts)
}

// endHanging ends the process if something on the line outlasts the connection.
func endHanging(conn *wire.ServerConn, ctl *control, log *slog.Logger) {
	<-conn.Context().Done()
	time.Sleep(hangupGrace)
	const reason = "the client has gone in the middle of work that does not end"
	log.Warn("session ended", "reason", reason)
	loglimit.Flush(log)
	_ = ctl.send(encodeEnd(reason), -1)
	os.Exit(0)
}
