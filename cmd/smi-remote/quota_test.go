package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

// limited is a source that keeps quotas, and tells which it was given.
type limited struct {
	*smitest.Fake

	mu   sync.Mutex
	told []string
}

// tell is what it was told since the last time.
func (l *limited) tell() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	told := l.told
	l.told = nil
	return told
}

func (l *limited) SetQuota(_ context.Context, index int, session string, q smi.Quota) error {
	if session == "99" {
		return smi.Errorf(smi.ErrNotFound, "there is no session 99")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, fmt.Sprint(index, " ", session, " ", q.Memory, " ", q.Compute))
	return nil
}

// limitedClients have quotas.
type limitedClients struct{ smitest.Clients }

func (c limitedClients) Sessions() []smi.Session {
	list := c.Clients.Sessions()
	list[0].Quotas = []smi.SessionQuota{
		{Device: 0, Quota: smi.Quota{Memory: smi.Some(smi.Bytes(16 << 30)), Compute: smi.Some(smi.Ratio(0.5))}},
		{Device: 1, Quota: smi.Quota{Compute: smi.Some(smi.Ratio(0.25))}, Together: "token alice"},
	}
	return list
}

func TestQuota(t *testing.T) {
	src := &limited{Fake: smitest.NewMachine(2, 0)}
	for _, c := range []struct{ args, want, out string }{
		{"1 --memory 16G", fmt.Sprint(1, "  ", smi.Some(smi.Bytes(16<<30)), " ", smi.None[smi.Ratio]()), "GPU 1: quota of all sessions: 16.0 GiB\n"},
		{"1 --compute 50% --session 7", fmt.Sprint(1, " 7 ", smi.None[smi.Bytes](), " ", smi.Some(smi.Ratio(0.5))), "GPU 1: quota of session 7: 50% of the time\n"},
		{"0 --memory none --compute none", fmt.Sprint(0, "  ", smi.Some(smi.Bytes(0)), " ", smi.Some(smi.Ratio(0))), "GPU 0: quota of all sessions: any memory, any time\n"},
	} {
		code, out, errs := call(t, []string{worker1(t, src)}, append([]string{"set", "quota"}, strings.Fields(c.args)...)...)
		if told := src.tell(); code != 0 || errs != "" || out != c.out || len(told) != 1 || told[0] != c.want {
			t.Errorf("%s: exit %d, %q, %q, told %q", c.args, code, out, errs, told)
		}
	}
	for _, args := range []string{"0", "0 --memory lots", "0 --memory 0", "0 --compute 0%", "0 --compute 120%", "0 --compute 50", "--memory 1G"} {
		if code, _, errs := call(t, []string{worker1(t, src)}, append([]string{"set", "quota"}, strings.Fields(args)...)...); code != 2 || errs == "" {
			t.Errorf("%s: exit %d, %q", args, code, errs)
		}
	}
	if code, _, errs := call(t, []string{worker1(t, src)}, "set", "quota", "0", "--memory", "1G", "--session", "99"); code != 4 || !strings.Contains(errs, "no session 99") {
		t.Errorf("exit %d, %q", code, errs)
	}
	if code, _, errs := call(t, []string{worker1(t, smitest.NewMachine(1, 0))}, "set", "quota", "0", "--memory", "1G"); code != 1 || !strings.Contains(errs, "no sessions here") {
		t.Errorf("exit %d, %q", code, errs)
	}
	readOnly := remotetest.Start(t, "", smiremote.HandlerOptions{Source: src}).Addr
	if code, _, errs := call(t, []string{readOnly}, "set", "quota", "0", "--memory", "1G"); code != 1 || !strings.Contains(errs, "--smi-allow-set") {
		t.Errorf("exit %d, %q", code, errs)
	}
	shown := remotetest.Start(t, "", smiremote.HandlerOptions{Source: src, Sessions: limitedClients{}}).Addr
	if code, out, errs := call(t, []string{shown}, "sessions"); code != 0 || !strings.Contains(out, "at most GPU 0: 16.0 GiB, 50% of the time; GPU 1: 25% of the time (all of ") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}
