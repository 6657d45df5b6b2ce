//go:build linux && amd64

package ebpf

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// The four capabilities that are asked for are enough.
func TestFewRights(t *testing.T) {
	const key = "EBPF_TEST_FEW_RIGHTS"
	if program := os.Getenv(key); program != "" {
		if os.Getuid() == 0 {
			t.Fatal("this is root")
		}
		tr, err := Open(Options{Functions: []string{"copy"}, Files: []string{}, only: filepath.Dir(program)})
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		r := start(t, program, "copy")
		watched(t, tr, 1)
		r.step("done")
		if p := of(t, tr, r.pid()); counts(p)["hipMemcpy hipSuccess"] != 2 || p.Executable != program {
			t.Errorf("%+v", p)
		}
		return
	}
	open(t) // or skip
	_, program := stub(t)
	if err := readable(filepath.Dir(program)); err != nil {
		t.Fatal(err)
	}
	asNobody(t, "TestFewRights", key+"="+program, unix.CAP_BPF, unix.CAP_PERFMON, unix.CAP_SYS_PTRACE, unix.CAP_DAC_READ_SEARCH)
}
