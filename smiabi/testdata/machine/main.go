// Command machine is a libamd_smi over smitest's machine of eight cards, for the
// test that calls it from C.
package main

import "C"

import (
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiabi"
)

func init() {
	smiabi.SetOpener(func() (smi.Source, error) { return smitest.NewMachine(8, 4), nil })
}

func main() {}
