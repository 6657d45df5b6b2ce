package windows

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const mingw = "x86_64-w64-mingw32-gcc"

// wine is where Windows programs run; nothing of it is made before the first.
var wine struct {
	once    sync.Once
	program string
	prefix  string
	err     error
}

// wineProgram is the path of Wine, empty if there is none. Debian's package wine64 has it off the path.
func wineProgram() string {
	for _, name := range []string{"wine64", "/usr/lib/wine/wine64", "wine"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	return ""
}

// folder is the folder of what is in the zip for Windows.
func folder(t *testing.T) string {
	t.Helper()
	if wine.program = wineProgram(); wine.program == "" {
		t.Skip("wine64 is missing")
	}
	if _, err := exec.LookPath(mingw); err != nil {
		t.Skip("gcc-mingw-w64-x86-64 is missing")
	}
	out := filepath.Join(built, "windows")
	dir := filepath.Join(out, "rocwire-windows-amd64")
	wine.once.Do(func() {
		wine.prefix = filepath.Join(built, "prefix")
		system := filepath.Join(wine.prefix, "drive_c", "windows", "system32", "bcryptprimitives.dll")
		if out, err := exec.Command("../../scripts/windows.sh", out).CombinedOutput(); err != nil {
			wine.err = fmt.Errorf("scripts/windows.sh: %w\n%s", err, out)
			return
		}
		if wine.err = startWine(); wine.err != nil {
			return
		}
		if out, err := inWine(nil, "wineboot", "-i"); err != nil {
			wine.err = fmt.Errorf("wineboot: %w\n%s", err, out)
			return
		}
		if _, err := os.Stat(system); err != nil { // an older Wine
			if out, err := exec.Command(mingw, "-shared", "-O2", "testdata/bcryptprimitives.c", "-o", system, "-ladvapi32").CombinedOutput(); err != nil {
				wine.err = fmt.Errorf("%w\n%s", err, out)
			}
		}
	})
	if wine.err != nil {
		t.Fatal(wine.err)
	}
	return dir
}

func wineEnv() []string {
	return append(os.Environ(), "WINEPREFIX="+wine.prefix, "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=")
}

// inWine runs a Windows program and returns all it wrote. One that takes more than four minutes hangs, also on a machine that does much
// else, and is killed.
func inWine(env []string, args ...string) (string, error) {
	c := exec.Command(wine.program, args...)
	c.Env = append(wineEnv(), env...)
	out, err := os.CreateTemp(built, "") // a pipe is kept open by Wine's services, which the first program starts and which outlive it
	if err != nil {
		return "", err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	c.Stdout, c.Stderr = out, out
	kill := time.AfterFunc(4*time.Minute, func() { _ = c.Process.Kill() })
	defer kill.Stop()
	failed := c.Run()
	text, err := os.ReadFile(out.Name())
	return strings.ReplaceAll(string(text), "\r\n", "\n"), errors.Join(failed, err)
}

// server is Wine's own for the prefix.
func server(args ...string) *exec.Cmd {
	name := "wineserver"
	for _, debian := range []string{"/usr/lib/wine/wineserver64", "/usr/lib/wine/wineserver"} {
		if _, err := os.Stat(debian); err == nil {
			name = debian
			break
		}
	}
	c := exec.Command(name, args...)
	c.Env = wineEnv()
	return c
}

// startWine starts what all programs of the prefix are clients of; it goes on by itself, and answers when that returns. One that the first
// program starts ends three seconds after the last, and a program that comes in that moment loses its connection.
func startWine() error {
	if err := os.Mkdir(wine.prefix, 0o700); err != nil {
		return err
	}
	if err := server("-p").Run(); err != nil {
		return fmt.Errorf("wineserver: %w", err)
	}
	return nil
}

// stopWine ends what Wine has running for the prefix.
func stopWine() {
	if wine.prefix == "" {
		return
	}
	for _, arg := range []string{"-k", "-w"} {
		_ = server(arg).Run() // nothing runs
	}
}

// program compiles a C program for Windows, once; libs are import libraries of ours.
func program(t *testing.T, source string, libs ...string) string {
	t.Helper()
	dir := folder(t)
	bin := filepath.Join(dir, strings.TrimSuffix(filepath.Base(source), ".c")+".exe")
	if _, err := os.Stat(bin); err == nil {
		return bin
	}
	args := []string{"-O2", "-mfma", "-Wall", "-Wextra", "-Werror", "-Wno-cast-function-type", "-I" + filepath.Join(dir, "include"), source, "-o", bin}
	for _, l := range libs {
		args = append(args, filepath.Join(dir, "lib", "lib"+l+".dll.a"))
	}
	build(t, mingw, append(args, "-static", "-lm", "-lpthread")...)
	return bin
}

// path is what a Windows program calls a file of this machine.
func path(path string) string { return "Z:" + strings.ReplaceAll(path, "/", `\`) }
