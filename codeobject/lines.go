package codeobject

import (
	"bytes"
	"debug/dwarf"
	"fmt"
	"path"
	"strings"
)

// Lines is what a code object tells of the source that its code was made of, if
// it was compiled with debug lines (-g, -gline-tables-only). Nil tells nothing.
type Lines struct {
	data *dwarf.Data
	full map[uint64]string // answers, by address
}

// Bounds of what is read: lines are for people who look for a bug.
const (
	maxDebug   = 64 << 20 // bytes of debug sections
	maxAnswers = 1 << 12
)

// DebugLines takes what Line needs out of an image; nil if there is none. The
// image may change afterwards.
func DebugLines(image []byte) (l *Lines) {
	// A library reads it, and images come from strangers: whatever it does with a bad one, there are no lines then.
	defer func() {
		if recover() != nil {
			l = nil
		}
	}()
	h, err := parseHeader(image)
	if err != nil {
		return nil
	}
	sections := map[string][]byte{}
	size := 0
	for _, s := range debugSections(image, h) {
		if size += len(s.data); size > maxDebug {
			return nil
		}
		sections[s.name] = bytes.Clone(s.data)
	}
	if sections[".debug_line"] == nil || sections[".debug_info"] == nil || !boundedLines(sections[".debug_line"]) {
		return nil
	}
	d, err := dwarf.New(sections[".debug_abbrev"], nil, nil, sections[".debug_info"], sections[".debug_line"], nil, sections[".debug_ranges"], sections[".debug_str"])
	if err != nil {
		return nil
	}
	for _, name := range []string{".debug_addr", ".debug_line_str", ".debug_rnglists", ".debug_str_offsets"} {
		if s := sections[name]; s != nil {
			if d.AddSection(name, s) != nil {
				return nil
			}
		}
	}
	return &Lines{data: d, full: map[uint64]string{}}
}

// Line is the source line of the instruction at an address relative to the base,
// as "file.hip:12", "" if that is not known. Not safe for concurrent use.
func (l *Lines) Line(addr uint64) (at string) {
	if l == nil {
		return ""
	}
	if s, ok := l.full[addr]; ok {
		return s
	}
	defer func() {
		if recover() != nil {
			at = ""
		}
		if len(l.full) < maxAnswers {
			l.full[addr] = at
		}
	}()
	r := l.data.Reader()
	for {
		cu, err := r.Next()
		if err != nil || cu == nil {
			return ""
		}
		r.SkipChildren()
		if cu.Tag != dwarf.TagCompileUnit {
			continue
		}
		lines, err := l.data.LineReader(cu)
		if err != nil || lines == nil {
			continue
		}
		var e dwarf.LineEntry
		if lines.SeekPC(addr, &e) == nil && e.File != nil && e.Line > 0 {
			return fmt.Sprintf("%s:%d", path.Base(strings.ReplaceAll(e.File.Name, "\\", "/")), e.Line)
		}
	}
}

type debugSection struct {
	name string
	data []byte
}

// debugSections are the sections of an image that hold debug information as it is, not compressed.
func debugSections(image []byte, h *header) (list []debugSection) {
	const shfCompressed = 1 << 11
	sections := h.sections(image)
	index := int(le.Uint16(image[62:]))
	if index >= len(sections) {
		return nil
	}
	names, ok := span(image, sections[index].off, sections[index].size)
	if !ok {
		return nil
	}
	for _, s := range sections {
		head := image[s.at:]
		name, ok := cstring(names, uint64(le.Uint32(head)))
		if !ok || !strings.HasPrefix(name, ".debug_") || s.typ == shtNoBits || le.Uint64(head[8:])&shfCompressed != 0 {
			continue
		}
		if data, ok := span(image, s.off, s.size); ok && len(list) < 32 {
			list = append(list, debugSection{name, data})
		}
	}
	return list
}
