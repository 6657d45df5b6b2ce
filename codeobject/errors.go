package codeobject

import (
	"errors"
	"fmt"
	"strings"
)

// Sentinels for errors.Is.
var (
	// ErrInvalid is any malformed input.
	ErrInvalid = errors.New("codeobject: invalid image")
	// ErrNoBinary is an image without code for the wanted target.
	ErrNoBinary = errors.New("codeobject: no binary for this GPU")
	// ErrUndefined is a reference to a symbol that nothing defines.
	ErrUndefined = errors.New("codeobject: undefined symbol")
	// ErrArgs is an argument list that does not fit the kernel.
	ErrArgs = errors.New("codeobject: wrong kernel arguments")
)

// Invalid reports malformed or unsupported input.
type Invalid struct {
	What   string // the part that is wrong, and how
	Offset uint64 // where in the image, in bytes
}

func (e *Invalid) Error() string {
	return fmt.Sprintf("codeobject: %s (at offset %#x)", e.What, e.Offset)
}

// Is makes errors.Is(err, ErrInvalid) true.
func (e *Invalid) Is(target error) bool { return target == ErrInvalid }

func invalid(off uint64, format string, args ...any) error {
	return &Invalid{What: fmt.Sprintf(format, args...), Offset: off}
}

// NoBinaryForGPU reports an image that holds no code for the wanted target.
type NoBinaryForGPU struct {
	Wanted string   // the device's target
	Have   []string // what the image holds, in its order
}

func (e *NoBinaryForGPU) Error() string {
	have := "nothing"
	if len(e.Have) > 0 {
		const most = 16
		names := e.Have
		if len(names) > most {
			names = append(append([]string{}, names[:most]...), fmt.Sprintf("%d more", len(e.Have)-most))
		}
		have = strings.Join(names, ", ")
	}
	return fmt.Sprintf("codeobject: no binary for %s, the image holds %s", e.Wanted, have)
}

// Is makes errors.Is(err, ErrNoBinary) true.
func (e *NoBinaryForGPU) Is(target error) bool { return target == ErrNoBinary }

// Undefined reports a relocation against a symbol that the object uses and
// does not define.
type Undefined struct{ Symbol string }

func (e *Undefined) Error() string {
	return fmt.Sprintf("codeobject: undefined symbol %q", e.Symbol)
}

// Is makes errors.Is(err, ErrUndefined) true.
func (e *Undefined) Is(target error) bool { return target == ErrUndefined }

// ArgsError reports arguments that do not fit a kernel.
type ArgsError struct {
	Kernel string
	What   string
}

func (e *ArgsError) Error() string {
	return fmt.Sprintf("codeobject: kernel %s: %s", e.Kernel, e.What)
}

// Is makes errors.Is(err, ErrArgs) true.
func (e *ArgsError) Is(target error) bool { return target == ErrArgs }
