package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// program is one gtest binary and the tests of it to run.
type program struct {
	name  string
	tests []string
}

type result struct {
	passed map[string]bool
	failed map[string]string // why
	took   time.Duration
}

func readSuite(path string, o *options) ([]*program, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	by := map[string]*program{}
	var all []*program
	for i, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if strings.HasPrefix(l, "#") {
			continue
		}
		c := strings.Split(l, "\t")
		if len(c) != 3 {
			return nil, fmt.Errorf("%s:%d: %d columns", path, i+1, len(c))
		}
		forms, err := strconv.Atoi(c[0])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		if forms > o.forms || !o.match.MatchString(c[1]+"/"+c[2]) {
			continue
		}
		p := by[c[1]]
		if p == nil {
			p = &program{name: c[1]}
			by[c[1]], all = p, append(all, p)
		}
		p.tests = append(p.tests, c[2])
	}
	sort.Slice(all, func(i, j int) bool { return all[i].name < all[j].name })
	return all, nil
}

// run runs the program's tests in one process, and goes on after a test that
// ends the process with those that had not run.
func (p *program) run(ctx context.Context, o *options, w *worker) result {
	r := result{passed: map[string]bool{}, failed: map[string]string{}}
	began := time.Now()
	left := p.tests
	for len(left) > 0 && ctx.Err() == nil {
		last, err := p.once(ctx, o, w, left, &r)
		var rest []string
		for _, t := range left {
			if _, bad := r.failed[t]; !bad && !r.passed[t] {
				rest = append(rest, t)
			}
		}
		if len(rest) == len(left) || last == "" && len(rest) > 0 {
			for _, t := range rest {
				r.failed[t] = fmt.Sprintf("the program did not run it (%v)", err)
			}
			break
		}
		left = rest
	}
	r.took = time.Since(began)
	return r
}

var gtestLine = regexp.MustCompile(`^\[ *(RUN|OK|FAILED|SKIPPED) *\] ([^ ,(]+)`)

// once runs tests in one process; last is the test that was running when the
// process ended, and is then counted as failed.
func (p *program) once(ctx context.Context, o *options, w *worker, tests []string, r *result) (last string, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(o.tree, "usr/lib64/ld-linux-x86-64.so.2"),
		"--library-path", o.lib+":"+filepath.Join(o.tree, "usr/lib/x86_64-linux-gnu"),
		filepath.Join(o.tree, "usr/libexec/rocm/librocrand1-tests", p.name),
		"--gtest_color=no", "--gtest_filter="+strings.Join(tests, ":"))
	cmd.Env = append(os.Environ(), "TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT="+w.port)
	cmd.WaitDelay = 5 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	var now atomic.Pointer[string]
	defer every(time.Minute, func() {
		if t := now.Load(); t != nil {
			fmt.Fprintf(os.Stderr, "conformance: %s is at %s\n", p.name, *t)
		}
	})()
	var said []string
	in := bufio.NewScanner(out)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		m := gtestLine.FindStringSubmatch(in.Text())
		if m == nil {
			if len(said) < 5 {
				said = append(said, strings.TrimSpace(in.Text()))
			}
			continue
		}
		switch m[1] {
		case "RUN":
			last, said = m[2], nil
			now.Store(&m[2])
		case "OK":
			r.passed[m[2]], last = true, ""
		default:
			if last == m[2] {
				r.failed[m[2]], last = strings.Join(said, " | "), ""
			}
		}
	}
	err = cmd.Wait()
	if last != "" {
		why := fmt.Sprint(err)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			why = "ran longer than " + o.timeout.String()
		}
		r.failed[last] = why + ": " + tail(stderr.String(), 300)
	}
	if o.verbose && stderr.Len() > 0 {
		fmt.Fprint(os.Stderr, tail(stderr.String(), 4000))
	}
	return last, err
}

// every calls f in intervals until the function it returns is called.
func every(d time.Duration, f func()) (stop func()) {
	t, done := time.NewTicker(d), make(chan struct{})
	go func() {
		defer t.Stop()
		for {
			select {
			case <-t.C:
				f()
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

func tail(s string, n int) string {
	s = strings.TrimSpace(s)
	if len(s) > n {
		s = "…" + s[len(s)-n:]
	}
	return strings.ReplaceAll(s, "\n", " | ")
}
