package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// figures are what a worker has at rest, which must not grow.
type figures struct {
	memory      int // resident bytes of the worker itself
	descriptors int
	threads     int
	goroutines  int
	processes   int // below the worker
	users       int // other than root, that they run as
	namespaces  int // of networks, that they are in, other than this one
	sessions    int
}

// allowance is by how much each may grow. Go's heap is larger or smaller by chance; a thread that was once needed stays.
func (f figures) allowance(memory int) figures {
	return figures{memory: memory, descriptors: 8, threads: 8, goroutines: 8, processes: 2, users: 2, namespaces: 2}
}

// grown names what is more than before and the allowance.
func (f figures) grown(before, allowed figures) (names []string) {
	b, a := before.list(), allowed.list()
	for i, x := range f.list() {
		if x.n > b[i].n+a[i].n {
			names = append(names, fmt.Sprintf("%s from %d to %d (%d more are allowed)", x.name, b[i].n, x.n, a[i].n))
		}
	}
	return names
}

type figure struct {
	name string
	n    int
}

func (f figures) list() []figure {
	return []figure{{"memory", f.memory}, {"descriptors", f.descriptors}, {"threads", f.threads}, {"goroutines", f.goroutines}, {"processes", f.processes},
		{"users", f.users}, {"network namespaces", f.namespaces}, {"sessions", f.sessions}}
}

func (f figures) String() string {
	var b strings.Builder
	for _, x := range f.list()[1:] {
		fmt.Fprintf(&b, ", %d %s", x.n, x.name)
	}
	return fmt.Sprintf("%.1f MB resident%s", float64(f.memory)/1e6, b.String())
}

// measure reads /proc, and of the worker's own metrics how many goroutines there are.
func (w *server) measure(ctx context.Context) (f figures, err error) {
	pid := w.cmd.Process.Pid
	if f.memory, f.threads, _, err = status(pid); err != nil {
		return f, err
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return f, err
	}
	f.descriptors = len(fds)
	own, _ := os.Readlink("/proc/self/ns/net")
	users, namespaces := map[int]bool{}, map[string]bool{}
	for _, p := range below(pid) {
		_, _, uid, err := status(p)
		if err != nil {
			continue // it has ended
		}
		f.processes++
		if uid != 0 {
			users[uid] = true
		}
		if ns, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", p)); err == nil && ns != own {
			namespaces[ns] = true
		}
	}
	f.users, f.namespaces = len(users), len(namespaces)
	list, err := w.smi.Sessions(ctx)
	if err != nil {
		return f, err
	}
	f.sessions = len(list.Sessions)
	f.goroutines, err = w.goroutines(ctx)
	return f, err
}

// status reads memory in bytes, threads and the user of a process.
func status(pid int) (memory, threads, uid int, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for l := range strings.Lines(string(b)) {
		f := strings.Fields(l)
		if len(f) < 2 {
			continue
		}
		n, _ := strconv.Atoi(f[1])
		switch f[0] {
		case "VmRSS:":
			memory = n * 1024
		case "Threads:":
			threads = n
		case "Uid:":
			uid = n
		}
	}
	return memory, threads, uid, err
}

// below gives the processes that descend from one.
func below(pid int) (all []int) {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, t := range tasks {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		for _, f := range strings.Fields(string(b)) {
			if p, err := strconv.Atoi(f); err == nil {
				all = append(append(all, p), below(p)...)
			}
		}
	}
	return all
}

// goroutines asks the worker's metrics, all of which are read.
func (w *server) goroutines(ctx context.Context) (n int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.metrics, nil)
	if err != nil {
		return 0, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", w.metrics, res.Status)
	}
	lines, found := bufio.NewScanner(res.Body), false
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), "go_goroutines "); ok {
			if n, err = strconv.Atoi(v); err != nil {
				return 0, err
			}
			found = true
		}
	}
	if !found && lines.Err() == nil {
		return 0, fmt.Errorf("%s has no go_goroutines", w.metrics)
	}
	return n, lines.Err()
}
