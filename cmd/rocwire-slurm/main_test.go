//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipmulti"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/worker/workertest"
)

// What the test binary is when a job starts it: argument 1, and what it is told with it.
const (
	asProgram = "__slurm" // rocwire-slurm itself, with the arguments behind
	asJob     = "__job"   // a job's HIP program
	asTaker   = "__take"  // one that takes memory
)

func TestMain(m *testing.M) {
	workertest.SimulatedSession()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case asProgram:
			main2()
		case asJob:
			job(os.Args[2:])
		case asTaker:
			take(os.Args[2:])
		}
	}
	os.Exit(m.Run())
}

func main2() {
	os.Args = append(os.Args[:1], os.Args[2:]...)
	main()
}

// seen is what a job's program says.
type seen struct {
	Node  string
	UUIDs []string // of the devices it sees
}

// job uses each of its devices, says what it has seen, and stays as long as it is told. With "leave" it leaves a program behind that goes on.
func job(args []string) {
	if args[0] == "leave" {
		c := exec.Command(os.Args[0], asJob, "1h")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			fmt.Println("no", err)
			os.Exit(1)
		}
		_, _ = out.Read(make([]byte, 1)) // it has a session
		os.Exit(0)
	}
	stay, err := time.ParseDuration(args[0])
	if err != nil {
		panic(err)
	}
	rt := hip.Runtime(hipmulti.New(hipremote.AllFromEnv(os.LookupEnv)))
	s := seen{Node: os.Getenv("SLURMD_NODENAME")}
	n, code := rt.GetDeviceCount()
	for i := range n {
		p, err := rt.GetDevicePropertiesR0600(i)
		if code = err; code != hip.Success {
			break
		}
		s.UUIDs = append(s.UUIDs, fmt.Sprintf("GPU-%s", p.Uuid.Bytes[:]))
	}
	if code != hip.Success {
		fmt.Println("no", code)
		os.Exit(1)
	}
	b, _ := json.Marshal(s)
	fmt.Println(string(b))
	time.Sleep(stay)
	os.Exit(0)
}

// take takes so many MiB of its device, says in a file of a folder what became of it, and is over when as many have said so.
func take(args []string) {
	mib, err1 := strconv.Atoi(args[0])
	all, err2 := strconv.Atoi(args[1])
	if err := errors.Join(err1, err2); err != nil {
		panic(err)
	}
	rt, t := hip.Runtime(hipmulti.New(hipremote.AllFromEnv(os.LookupEnv))), hip.Thread{}
	_, total, code := rt.MemGetInfo(t)
	if code == hip.Success {
		_, code = rt.Malloc(t, uint64(mib)<<20)
	}
	name := fmt.Sprintf("%s/%s.%s", args[2], os.Getenv("SLURM_STEP_ID"), os.Getenv("SLURM_PROCID"))
	if err := os.WriteFile(name, fmt.Appendf(nil, "%d MiB: %s", total>>20, code.Name()), 0o600); err != nil {
		panic(err)
	}
	for {
		list, err := os.ReadDir(args[2])
		if err != nil {
			panic(err)
		}
		if len(list) >= all {
			os.Exit(0)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// reports are what jobs' programs have said.
func reports(t *testing.T, out string) (list []seen) {
	t.Helper()
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		var s seen
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, s)
	}
	return list
}
