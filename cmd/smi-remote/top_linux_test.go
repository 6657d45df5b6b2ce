package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/smi/smitest"
)

// pty opens a pseudo-terminal of a size; what is written to the one end is read from
// the other.
func pty(t *testing.T, width, height uint16) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: height, Col: width})
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return screen, program
}

// appears is what is seen on a screen.
func appears(screen *os.File) *lines {
	seen := newLines()
	go func() { _, _ = io.Copy(seen, screen) }()
	return seen
}

// The live view on a terminal, from its start to q.
func TestTopOnTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	screen, program := pty(t, 100, 30)
	seen := appears(screen)
	env := map[string]string{"TF_WORKER_HOST": worker1(t, smitest.NewMachine(2, 3)), "NO_COLOR": "please"}
	code, errs := make(chan int, 1), newLines()
	go func() {
		code <- run(t.Context(), []string{"top"}, func(k string) string { return env[k] }, program, program, errs)
	}()
	seen.wait(t, "Instinct")
	seen.wait(t, "python3.12")
	if _, err := screen.WriteString("?"); err != nil {
		t.Fatal(err)
	}
	seen.wait(t, "Home and End")
	if _, err := screen.WriteString("xq"); err != nil {
		t.Fatal(err)
	}
	select {
	case c := <-code:
		if c != 0 || errs.String() != "" {
			t.Errorf("exit %d, %q", c, errs)
		}
	case <-time.After(time.Minute):
		t.Fatalf("q does not end it: %q", seen)
	}
	if colour := regexp.MustCompile(`\x1b\[[0-9;]*\b(3[0-7]|38|9[0-7])[0-9;]*m`).FindString(seen.String()); colour != "" {
		t.Errorf("colour %q in spite of NO_COLOR", colour)
	}
}

// A table on a wide terminal leaves nothing out.
func TestWideTerminal(t *testing.T) {
	_, program := pty(t, 132, 30)
	if width, is := terminal(program); width != 132 || !is {
		t.Errorf("%d, %v", width, is)
	}
	workers := []string{worker1(t, smitest.NewMachine(2, 1)), worker1(t, smitest.NewMachine(1, 0))}
	for width, left := range map[int]bool{80: true, 132: false} {
		a := &app{getenv: func(k string) string { return map[string]string{"TF_WORKER_HOST": strings.Join(workers, ",")}[k] }, stdout: &bytes.Buffer{}, width: width}
		if err := a.execute(t.Context(), []string{"metrics"}); err != nil {
			t.Error(err)
		}
		if strings.Contains(a.out.String(), "Left out") != left {
			t.Errorf("width %d:\n%s", width, &a.out)
		}
		a.close()
	}
}
