// Command hipgroups runs groups of hip/hiptest on the worker of TF_WORKER_HOST and TF_WORKER_PORT. With -list it prints the names of all tests.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiptest"
	"github.com/rocwire/rocwire/hipremote"
)

func main() {
	testing.Init()
	list := flag.Bool("list", false, "print the names of all tests, and run none")
	flag.Parse()
	if *list {
		fmt.Println(strings.Join(hiptest.Names(), "\n"))
		return
	}
	tests := []testing.InternalTest{{Name: "hip", F: func(t *testing.T) {
		hiptest.Run(t, func(t *testing.T) hip.Runtime {
			c := hipremote.New(hipremote.Config{Host: os.Getenv("TF_WORKER_HOST"), Port: os.Getenv("TF_WORKER_PORT"), ConnectTimeout: time.Minute, IOTimeout: time.Minute, Logf: t.Logf})
			t.Cleanup(func() { _ = c.Close() })
			if _, e := c.GetDeviceCount(); e != hip.Success {
				t.Fatal(e)
			}
			return c
		}, flag.Args()...)
	}}}
	testing.Main(regexp.MatchString, tests, nil, nil)
}
