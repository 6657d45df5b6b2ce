package codeobject

import (
	"bytes"
	"strings"
)

// Magics of the containers.
const (
	bundleMagic     = "__CLANG_OFFLOAD_BUNDLE__"
	compressedMagic = "CCOB"
	elfMagic        = "\x7fELF"
)

// A bundle's header is its magic and the number of entries; an entry's header
// is offset, size and length of the identifier, which follows.
const (
	bundleHeaderSize = len(bundleMagic) + 8
	bundleEntrySize  = 3 * 8
)

// Entry is one part of a bundle.
type Entry struct {
	ID     string // as written: "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+"
	Target Target // zero if this is not HIP device code, see Device
	Data   []byte // part of the image, or of its decompressed copy
	Offset uint64 // of Data in its bundle
}

// Device tells whether the entry is HIP code for an AMD GPU.
func (e *Entry) Device() bool { return e.Target.Processor != "" }

// name is what an error message calls the entry.
func (e *Entry) name() string {
	if e.Device() {
		if e.Target.Generic() {
			return e.Target.Short() + " (generic)"
		}
		return e.Target.Short()
	}
	return e.ID
}

// Entries lists what an image holds: the entries of all its bundles, which may
// be compressed and may follow each other with zeros between, or the one entry
// of a bare ELF code object.
func Entries(image []byte) ([]Entry, error) {
	if !known(image) {
		return nil, invalid(0, "neither a code object nor a bundle of them (it begins with % x)", image[:min(8, len(image))])
	}
	var all []Entry
	budget := uint64(MaxUncompressed)
	for base := uint64(0); ; {
		rest := image[base:]
		entries, size, err := firstContainer(rest, &budget)
		if err != nil {
			return nil, shift(err, base)
		}
		all = append(all, entries...)
		if len(all) > maxEntries {
			return nil, invalid(base, "more than %d bundle entries", maxEntries)
		}
		rest = rest[size:]
		// Bundles are aligned: zeros up to the next one.
		trimmed := bytes.TrimLeft(rest, "\x00")
		base += size + uint64(len(rest)-len(trimmed))
		if !known(trimmed) || bytes.HasPrefix(trimmed, []byte(elfMagic)) {
			return all, nil
		}
	}
}

// maxEntries bounds the entries of one image.
const maxEntries = 4096

// known tells whether b begins like a container or a code object.
func known(b []byte) bool {
	return bytes.HasPrefix(b, []byte(bundleMagic)) || bytes.HasPrefix(b, []byte(compressedMagic)) ||
		bytes.HasPrefix(b, []byte(elfMagic))
}

// firstContainer reads the container at the beginning of b and its length. What
// it decompresses counts against the budget.
func firstContainer(b []byte, budget *uint64) ([]Entry, uint64, error) {
	switch {
	case bytes.HasPrefix(b, []byte(elfMagic)):
		h, err := parseHeader(b)
		if err != nil {
			return nil, 0, err
		}
		return []Entry{{ID: h.target.String(), Target: h.target, Data: b}}, uint64(len(b)), nil
	case bytes.HasPrefix(b, []byte(compressedMagic)):
		plain, size, err := decompress(b, *budget)
		if err != nil {
			return nil, 0, err
		}
		*budget -= uint64(len(plain))
		if !bytes.HasPrefix(plain, []byte(bundleMagic)) {
			return nil, 0, invalid(0, "the compressed data is not a bundle")
		}
		entries, _, err := plainBundle(plain)
		if err != nil {
			return nil, 0, inCompressed(err)
		}
		return entries, size, nil
	}
	return plainBundle(b)
}

// plainBundle reads an uncompressed bundle and its length, which is the end of
// its last part.
func plainBundle(b []byte) ([]Entry, uint64, error) {
	if len(b) < bundleHeaderSize {
		return nil, 0, invalid(0, "bundle header is cut off after %d bytes", len(b))
	}
	count := le.Uint64(b[len(bundleMagic):])
	if count > maxEntries || count*uint64(bundleEntrySize) > uint64(len(b)-bundleHeaderSize) {
		return nil, 0, invalid(uint64(len(bundleMagic)), "bundle with %d entries in %d bytes", count, len(b))
	}
	entries := make([]Entry, 0, count)
	at := uint64(bundleHeaderSize)
	end := at
	for i := uint64(0); i < count; i++ {
		head, ok := span(b, at, bundleEntrySize)
		if !ok {
			return nil, 0, invalid(at, "bundle entry %d is cut off", i)
		}
		off, size, idLen := le.Uint64(head), le.Uint64(head[8:]), le.Uint64(head[16:])
		id, ok := span(b, at+bundleEntrySize, idLen)
		if !ok || idLen > maxID {
			return nil, 0, invalid(at+16, "identifier of bundle entry %d is %d bytes long", i, idLen)
		}
		data, ok := span(b, off, size)
		if !ok {
			return nil, 0, invalid(at, "bundle entry %d (%q) covers %#x+%#x of %#x bytes", i, id, off, size, len(b))
		}
		e := Entry{ID: string(id), Data: data, Offset: off}
		e.Target = targetOfEntry(e.ID)
		entries = append(entries, e)
		at += bundleEntrySize + idLen
		end = max(end, at, off+size)
	}
	return entries, end, nil
}

// maxID bounds an entry's identifier.
const maxID = 1024

// targetOfEntry is the target of "hip-…" and "hipv4-…" entries, and zero for
// host entries, other languages and targets that are not AMD processors.
func targetOfEntry(id string) Target {
	rest, ok := strings.CutPrefix(id, "hipv4-")
	if !ok {
		if rest, ok = strings.CutPrefix(id, "hip-"); !ok {
			return Target{}
		}
	}
	if !strings.HasPrefix(rest, "amdgcn-") {
		return Target{}
	}
	t, err := ParseTarget(rest)
	if err != nil {
		return Target{}
	}
	return t
}

// shift moves the offset of an error from a part of the image to the image.
func shift(err error, base uint64) error {
	if e, ok := err.(*Invalid); ok {
		return &Invalid{What: e.What, Offset: e.Offset + base}
	}
	return err
}

func inCompressed(err error) error {
	if e, ok := err.(*Invalid); ok {
		return &Invalid{What: "in the decompressed bundle: " + e.What, Offset: e.Offset}
	}
	return err
}
