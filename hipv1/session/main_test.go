package session

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// laidOut says that this process was started again.
const laidOut = "HIPV1_TEST_LAID_OUT"

// The test binary starts itself again with its mappings from below, as session processes are: clients' addresses are where they would be otherwise, by chance.
func TestMain(m *testing.M) {
	if os.Getenv(laidOut) == "" {
		runtime.LockOSThread() // it is the thread that starts the program which counts
		const compatLayout = 0x0200000
		if _, _, errno := unix.Syscall(unix.SYS_PERSONALITY, compatLayout, 0, 0); errno != 0 {
			fmt.Fprintln(os.Stderr, "personality:", errno, "(the tests need an address space whose upper part is free)")
			os.Exit(1)
		}
		err := syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), laidOut+"=1"))
		fmt.Fprintln(os.Stderr, "exec:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
