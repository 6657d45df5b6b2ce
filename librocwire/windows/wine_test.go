package windows

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
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
		steps := []*exec.Cmd{exec.Command("../../scripts/windows.sh", out), exec.Command(wine.program, "wineboot", "-i")}
		system := filepath.Join(wine.prefix, "drive_c", "windows", "system32", "bcryptprimitives.dll")
		for _, c := range steps {
			c.Env = wineEnv()
			if out, err := c.CombinedOutput(); err != nil && wine.err == nil {
				wine.err = fmt.Errorf("%v: %w\n%s", c.Args, err, out)
			}
		}
		if _, err := os.Stat(system); err != nil && wine.err == nil { // an older Wine
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

// stopWine ends what Wine has running for the prefix.
func stopWine() {
	if wine.prefix == "" {
		return
	}
	server := "wineserver"
	for _, name := range []string{"/usr/lib/wine/wineserver64", "/usr/lib/wine/wineserver"} {
		if _, err := os.Stat(name); err == nil {
			server = name
			break
		}
	}
	for _, arg := range []string{"-k", "-w"} {
		c := exec.Command(server, arg)
		c.Env = wineEnv()
		_ = c.Run() // nothing runs
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
