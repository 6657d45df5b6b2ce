package wire

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

// Descriptors go beside a connection through shared memory: by a pair of Unix sockets of its own, the channel, whose ends come with the memory. Only the
// server passes any, each with a number. Neither side ever waits for the other here: what does not fit, or has not come, is an error.

// passTag is how long the number of a descriptor is.
const passTag = 8

var errNoChannel = errors.New("wire: no descriptors can be passed on this connection")

// makeChannel makes both ends: the server's and the client's.
func makeChannel() (server, client int, err error) {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, -1, err
	}
	return p[0], p[1], nil
}

// canPass says whether there is a channel.
func (s *shm) canPass() bool { return s.channel >= 0 }

// pass sends a descriptor, which stays the caller's.
func (s *shm) pass(tag uint64, fd int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.channel < 0 || s.closed {
		return errNoChannel
	}
	return unix.Sendmsg(s.channel, binary.LittleEndian.AppendUint64(nil, tag), unix.UnixRights(fd), nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
}

// passed gives the descriptor that came with a number, and drops any that came before it. It must have been sent before the caller learned of it.
func (s *shm) passed(tag uint64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.channel < 0 || s.closed {
		return -1, errNoChannel
	}
	for {
		var note [passTag + 1]byte
		oob := make([]byte, unix.CmsgSpace(4*4))
		n, oobn, _, _, err := unix.Recvmsg(s.channel, note[:], oob, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
		if err != nil {
			return -1, err
		}
		fd := -1
		messages, _ := unix.ParseSocketControlMessage(oob[:oobn])
		for i := range messages {
			list, _ := unix.ParseUnixRights(&messages[i])
			for _, x := range list {
				if fd >= 0 {
					_ = unix.Close(x)
					continue
				}
				fd = x
			}
		}
		switch {
		case n == passTag && fd >= 0 && binary.LittleEndian.Uint64(note[:]) == tag:
			return fd, nil
		case n != passTag: // the end, or nonsense
			err = violation(Header{}, "a descriptor with a note of %d bytes", n)
		}
		if fd >= 0 {
			_ = unix.Close(fd)
		}
		if err != nil {
			return -1, err
		}
	}
}
