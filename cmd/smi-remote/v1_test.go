package main

import (
	"io"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/hipv1"
	"github.com/rocwire/rocwire/internal/freeport"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// oldServer answers questions about cards in the earlier protocol.
func oldServer(t *testing.T, src smi.Source) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	cards := hipv1.Cards{Source: src}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for {
					var head [hipv1.HeaderSize]byte
					if _, err := io.ReadFull(conn, head[:]); err != nil {
						return
					}
					h, err := hipv1.ParseHeader(head[:])
					if err != nil {
						return
					}
					b := make([]byte, h.Length)
					if _, err := io.ReadFull(conn, b); err != nil {
						return
					}
					code, v := cards.Answer(t.Context(), h.Op, b)
					if _, err := conn.Write(hipv1.AppendReply(nil, h, hipv1.Unknown, code, v, 0)); err != nil {
						return
					}
				}
			}()
		}
	}()
	return ln.Addr().String()
}

// What an earlier worker knows is shown like anybody's.
func TestV1(t *testing.T) {
	addr := oldServer(t, smitest.NewMachine(3, 2))
	for _, command := range []string{"list", "metrics", "metrics 1", "power", "info 0"} {
		for _, form := range []string{"", " --json", " --csv"} {
			args := command + form
			code, out, errs := call(t, []string{addr}, append([]string{"--v1"}, strings.Fields(args)...)...)
			if code != 0 || errs != "" {
				t.Errorf("%s: exit %d, %s", args, code, errs)
			}
			checkForm(t, args, out)
			out = strings.ReplaceAll(out, addr, "127.0.0.1:10000")
			golden(t, filepath.Join("v1", strings.NewReplacer(" ", "_", "--", "").Replace(args)+".txt"), untimed(out))
		}
	}
}

var moments = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ][0-9:.]+(Z|[+-]\d\d:\d\d)?`)

// untimed has no moments, which are those of the reading: the protocol tells none.
func untimed(s string) string { return moments.ReplaceAllString(s, "TIME") }

// What it cannot be asked is said, and so is what must not be expected of it.
func TestV1Limits(t *testing.T) {
	addr := oldServer(t, smitest.NewMachine(3, 1))
	for args, want := range map[string]string{
		"sessions": "can be asked for list, metrics, power and info", "set perf-level 0 auto": "can be asked for list",
		"list --token-file /nowhere": "has neither", "list --host unix:/run/w.sock": "TCP only",
	} {
		if code, _, errs := call(t, []string{addr}, append([]string{"--v1"}, strings.Fields(args)...)...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
	if code, _, errs := call(t, []string{freeport.Nobody(t)}, "--v1", "list"); code != exitUnreachable || !strings.Contains(errs, "refused") {
		t.Errorf("nobody there: exit %d, %s", code, errs)
	}
	if code, _, errs := call(t, []string{addr}, "--v1", "metrics", "7"); code != exitNotFound {
		t.Errorf("no such card: exit %d, %s", code, errs)
	}
}
