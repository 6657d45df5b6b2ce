package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/worker/admission"
)

func TestKeepDescriptors(t *testing.T) {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
			t.Error(err)
		}
	}()
	for cur, says := range map[uint64]bool{600: true, was.Max: was.Max < 2000} {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: cur, Max: was.Max}); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		var l admission.Limits
		if err := keepDescriptors(&l, 64, 50, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(log.String(), "LimitNOFILE"); got != says || says && uint64(l.Descriptors()+50) > cur {
			t.Errorf("%d descriptors: %q, %+v", cur, log.String(), l)
		}
	}
}
