package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

// maxResident is how much memory the exporter may take, the pages of its file included.
const maxResident = 64 << 20

// scrapes is how often the exporter is asked.
const scrapes = 50

// The program, asked by Prometheus every few seconds and asking a worker with 8 cards
// and 64 processes on each every second, stays small. COST_SECONDS is for how long it is
// watched; what it needs of a processor is logged.
func TestCosts(t *testing.T) {
	seconds := 5
	if s := os.Getenv("COST_SECONDS"); s != "" {
		var err error
		if seconds, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	worker, stop := remotetest.Run(smiremote.HandlerOptions{Source: smitest.NewMachine(8, 64), Sessions: smitest.Clients{}})
	defer stop()
	p := launch(t, nil, "--worker", worker, "--listen", "127.0.0.1:0")
	eventually(t, "figures of all processes", func() bool { return strings.Count(get(p.url), "\ngpu_process_vram_bytes{") == 8*64 })
	begin, before := time.Now(), processorTime(t, p.Process.Pid)
	for time.Since(begin) < time.Duration(seconds)*time.Second {
		time.Sleep(time.Second)
	}
	idle := float64(processorTime(t, p.Process.Pid)-before) / float64(time.Since(begin))
	begin, before = time.Now(), processorTime(t, p.Process.Pid)
	for range scrapes {
		scrape(t, p.url)
	}
	each := (float64(processorTime(t, p.Process.Pid)-before) - idle*float64(time.Since(begin))) / scrapes
	own, file := resident(t, p.Process.Pid)
	t.Logf("%.2f %% of a core, without scrapes; %.1f ms a scrape; %.1f MiB of its own resident after %d, and %.1f MiB of its file",
		100*idle, each/1e6, float64(own)/(1<<20), scrapes, float64(file)/(1<<20))
	if own+file > maxResident {
		t.Errorf("%d bytes resident, more than %d", own+file, maxResident)
	}
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// scrape asks as Prometheus 3 does: compressed, and in the format that it likes best.
func scrape(t *testing.T, url string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,"+
		"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if n, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK || n < 100_000 {
		t.Fatalf("%d, %d bytes, %v", answer.StatusCode, n, err)
	}
}

// processorTime is what the threads of a process have used, by /proc.
func processorTime(t *testing.T, pid int) (used time.Duration) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range threads {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		var ns time.Duration
		if _, err := fmt.Sscan(string(b), &ns); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		used += ns
	}
	return used
}

// resident is the memory of a process: its own, and what it has of files.
func resident(t *testing.T, pid int) (own, file int64) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		for key, to := range map[string]*int64{"RssAnon:": &own, "RssFile:": &file} {
			if f := strings.Fields(line); len(f) > 1 && f[0] == key {
				if *to, err = strconv.ParseInt(f[1], 10, 64); err != nil {
					t.Fatal(err)
				}
				*to <<= 10
			}
		}
	}
	return own, file
}
