package worker_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// quitterCommand is the first argument of a session process of this binary whose runtime gives up when it is to synchronize a device.
const quitterCommand = "__quitter"

type quitter struct {
	hip.Runtime
	told func(reason string)
}

func (q *quitter) DeviceSynchronize(hip.Thread) hip.Error {
	go q.told("the runtime has had enough")
	select {}
}

func quitterSession(args []string) (*worker.SessionProcess, error) {
	p, err := simbackend.Session(args, testLog())
	if err != nil {
		return nil, err
	}
	open := p.Open
	p.Open = func(s worker.Session) (worker.Opened, error) {
		o, err := open(s)
		q := &quitter{Runtime: o.Runtime}
		o.Runtime = q
		o.GivesUp = func(told func(reason string)) { q.told = told }
		return o, err
	}
	return p, nil
}

// TestRuntimeGivesUp: when a runtime ends its process, as AMD's library does, who waits for it and who comes later get HIP's error of a kernel that failed, and
// the log and the worker say why.
func TestRuntimeGivesUp(t *testing.T) {
	w := serve(t, simbackend.Options{Cards: 2}, worker.Config{Command: []string{os.Args[0], quitterCommand}})
	var log lines
	c := hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: fmt.Sprint(w.Addr().Port), Logf: func(f string, a ...any) { fmt.Fprintf(&log, f+"\n", a...) }})
	defer c.Close()
	_, code := c.GetDeviceCount()
	must(t, "GetDeviceCount", code)
	if code := c.DeviceSynchronize(hip.Thread{Device: 1}); code != hip.ErrorLaunchFailure {
		t.Error("who waits:", code)
	}
	for d := range int32(2) {
		if _, code := c.Malloc(hip.Thread{Device: d}, 4096); code != hip.ErrorLaunchFailure {
			t.Error("who comes later:", code)
		}
		if _, code := c.DeviceGetLimit(hip.Thread{Device: d}, 0); code != hip.ErrorLaunchFailure {
			t.Error("who asks:", code)
		}
	}
	if !strings.Contains(log.String(), "the runtime has had enough") {
		t.Errorf("the client's log: %q", log.String())
	}
	eventually(t, "the session has ended", func() bool { return len(w.Sessions()) == 0 })
}
