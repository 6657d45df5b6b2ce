package amdsmi

import (
	"errors"
	"math"

	"github.com/rocwire/rocwire/smi"
)

// reader puts together one answer about one card out of many calls, each of which
// may fail: a figure that fails is not available, and if all fail, so does the
// answer.
type reader struct {
	lib      *library
	card     *card
	source   *Source
	mem      *memory
	answered bool
	err      error // the most telling one
}

// l are the layouts.
func (r *reader) l() *layouts { return r.lib.abi.layouts }

// call calls a function about the card.
func (r *reader) call(fn function, args ...uint64) error {
	err := r.lib.abi.failed(fn, r.lib.call(fn, append([]uint64{r.card.handle}, args...)...))
	if err == nil {
		r.answered = true
	} else if r.err == nil || rank(err) > rank(r.err) {
		r.err = err
	}
	return err
}

// rank orders errors by how much they tell about a card.
func rank(err error) int {
	switch smi.CodeOf(err) {
	case smi.ErrNotSupported:
		return 0
	case smi.ErrUnavailable:
		return 4
	case smi.ErrNoPermission:
		return 3
	case smi.ErrIO:
		return 2
	}
	return 1
}

// failure is the error of the whole answer: none if any call succeeded.
func (r *reader) failure() error {
	if r.answered || r.err == nil {
		return nil
	}
	return r.explain(r.err)
}

// explain says which card an error is about, and what may help.
func (r *reader) explain(err error) error {
	code := smi.CodeOf(err)
	switch code {
	case smi.ErrNotSupported:
		return err
	case smi.ErrNoPermission:
		return smi.Errorf(code, "GPU %d: %w%s", r.card.index, err, permissionHint(r.render()))
	case smi.ErrUnavailable:
		return smi.Errorf(code, "GPU %d is gone: %w", r.card.index, err)
	}
	return smi.Errorf(code, "GPU %d: %w", r.card.index, err)
}

// render is the number of the card's render node.
func (r *reader) render() *uint32 {
	l := &r.l().enumerationInfo
	at, b := r.mem.alloc(l.size)
	if r.lib.call(fnEnumerationInfo, r.card.handle, at) != success {
		return nil
	}
	if n, ok := asUint32(b.num(l.drmRender)).Get(); ok {
		return &n
	}
	return nil
}

// get calls a function whose last parameter is a structure to be filled; nil if it
// fails.
func (r *reader) get(fn function, size int, args ...uint64) buf {
	at, b := r.mem.alloc(size)
	if r.call(fn, append(args, at)...) != nil {
		return nil
	}
	return b
}

var (
	oneUint32 = field{0, 4, 1}
	oneUint64 = field{0, 8, 1}
	oneBool   = field{0, 1, 1}
)

// getUint32 and getUint64 call functions whose last parameter is a number.
func (r *reader) getUint32(fn function, args ...uint64) smi.Opt[uint64] {
	return r.get(fn, 4, args...).num(oneUint32)
}

func (r *reader) getUint64(fn function, args ...uint64) smi.Opt[uint64] {
	return r.get(fn, 8, args...).counter(oneUint64)
}

// getInt64 calls a function whose last parameter is a signed number.
func (r *reader) getInt64(fn function, args ...uint64) smi.Opt[int64] {
	v, ok := r.get(fn, 8, args...).raw(oneUint64, 0)
	switch {
	case !ok, v == math.MaxUint64, v == math.MaxUint32, v == math.MaxUint16, v == math.MaxInt64:
		return smi.None[int64]()
	}
	return smi.Some(int64(v))
}

// getText calls a function that writes a text, with its length behind it.
func (r *reader) getText(fn function) string {
	const size = 64
	at, b := r.mem.alloc(size)
	if r.call(fn, at, size) != nil {
		return ""
	}
	return b.text(field{0, 1, size})
}

// answer is v, or why there is none.
func answer[T any](r *reader, v *T) (*T, error) {
	if err := r.failure(); err != nil {
		return nil, err
	}
	return v, nil
}

// isUnsupported says whether err is nothing but that the card does not know that.
func isUnsupported(err error) bool { return errors.Is(err, smi.ErrNotSupported) }
