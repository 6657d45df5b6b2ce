// Command hipgroups runs groups of hip/hiptest on the worker of TF_WORKER_HOST and TF_WORKER_PORT.
package main

import (
	"flag"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiptest"
	"github.com/rocwire/rocwire/hipremote"
)

func main() {
	testing.Init()
	flag.Parse()
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
