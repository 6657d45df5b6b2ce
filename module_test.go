package rocwire

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/zip"
)

// go install refuses a module whose go.mod changes what others say of theirs.
func TestModuleStandsAlone(t *testing.T) {
	b, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse("go.mod", b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range f.Replace {
		t.Errorf("go.mod replaces %s, so that go install …@version refuses it", r.Old.Path)
	}
	for _, x := range f.Exclude {
		t.Errorf("go.mod excludes %s, so that go install …@version refuses it", x.Mod)
	}
}

// Module proxies take what is committed: names that differ on every system, ordinary files, not too much.
func TestModuleCanBeCarried(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Fatal(err)
	}
	var files []zip.File
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if _, err := os.Lstat(name); err == nil { // not one that is deleted and not committed yet
			files = append(files, committed(name))
		}
	}
	checked, err := zip.CheckFiles(files)
	if err != nil {
		t.Error(err)
	}
	if len(checked.Valid) < 1000 {
		t.Errorf("only %d files", len(checked.Valid))
	}
	for _, x := range checked.Omitted {
		if !strings.Contains(x.Err.Error(), "in another module") {
			t.Errorf("%s is left out: %v", x.Path, x.Err)
		}
	}
}

// committed is a file of the repository.
type committed string

func (c committed) Path() string                 { return string(c) }
func (c committed) Lstat() (os.FileInfo, error)  { return os.Lstat(string(c)) }
func (c committed) Open() (io.ReadCloser, error) { return os.Open(string(c)) }
