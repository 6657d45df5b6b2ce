package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// structure is one C struct of some ABIs.
type structure struct {
	abis        []int // one, once read
	name        string
	fields      []member
	size, align int
	placed      bool // offsets and size were given, not computed
}

type member struct {
	name   string
	kind   string // "u8" … "u64", "char", "ptr", or the name of a structure
	dims   []int
	offset int
	width  int // of one element
}

// count is how many elements the member has.
func (m *member) count() int {
	n := 1
	for _, d := range m.dims {
		n *= d
	}
	return n
}

// reserved says whether a member only holds its place.
func (m *member) reserved() bool { return strings.HasPrefix(m.name, "reserved") }

// widths of what is not a structure.
var widths = map[string]int{"u8": 1, "u16": 2, "u32": 4, "u64": 8, "char": 1, "ptr": 8}

// readText reads layouts.txt.
func readText(path string) ([]*structure, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []*structure
	s := bufio.NewScanner(f)
	for line := 1; s.Scan(); line++ {
		text := s.Text()
		words := strings.Fields(text)
		switch {
		case len(words) == 0 || words[0][0] == '#':
		case text[0] == '[':
			list, name, ok := strings.Cut(text[1:], "] ")
			if !ok {
				return nil, fmt.Errorf("%s:%d: no name", path, line)
			}
			st := &structure{name: name}
			for _, a := range strings.Fields(list) {
				n, err := strconv.Atoi(a)
				if err != nil {
					return nil, fmt.Errorf("%s:%d: %w", path, line, err)
				}
				st.abis = append(st.abis, n)
			}
			all = append(all, st)
		default:
			if len(words) < 2 || len(all) == 0 {
				return nil, fmt.Errorf("%s:%d: a field has a name and a type", path, line)
			}
			m := member{name: words[0], kind: words[1]}
			for _, d := range words[2:] {
				n, err := strconv.Atoi(d)
				if err != nil {
					return nil, fmt.Errorf("%s:%d: %w", path, line, err)
				}
				m.dims = append(m.dims, n)
			}
			st := all[len(all)-1]
			st.fields = append(st.fields, m)
		}
	}
	return split(all), s.Err()
}

// split makes a structure of several ABIs one for each, as those it is made of may
// differ.
func split(all []*structure) (each []*structure) {
	for _, s := range all {
		for _, abi := range s.abis {
			one := *s
			one.abis, one.fields = []int{abi}, slices.Clone(s.fields)
			each = append(each, &one)
		}
	}
	return each
}

// apiTable is the part of smiabi/api.json that matters here.
type apiTable struct {
	Enums   map[string]struct{ Size int }
	Structs map[string]struct {
		Kind        string
		Size, Align int
		Fields      []struct {
			Name, Type string
			Offset     int
			Count      json.RawMessage
		}
	}
}

// readAPI reads the structures of old as ABI 27 has them.
func readAPI(path string, old []*structure) ([]*structure, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var api apiTable
	if err := json.Unmarshal(b, &api); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var all []*structure
	var add func(name string) error
	add = func(name string) error {
		if slices.ContainsFunc(all, func(s *structure) bool { return s.name == name }) {
			return nil
		}
		a, ok := api.Structs[name]
		if !ok {
			return fmt.Errorf("%s has no %s", path, name)
		}
		st := &structure{abis: []int{27}, name: name, size: a.Size, align: a.Align, placed: true}
		if a.Kind == "union" { // of bit fields and one number: the number
			st.fields = []member{{name: "as_uint", kind: fmt.Sprintf("u%d", 8*a.Size), width: a.Size}}
			all = append(all, st)
			return nil
		}
		for _, f := range a.Fields {
			m := member{name: f.Name, kind: f.Type, offset: f.Offset}
			if len(f.Count) > 0 {
				if f.Count[0] != '[' {
					f.Count = []byte("[" + string(f.Count) + "]")
				}
				if err := json.Unmarshal(f.Count, &m.dims); err != nil {
					return err
				}
			}
			enum, isEnum := api.Enums[m.kind]
			inner, isStruct := api.Structs[m.kind]
			switch {
			case isEnum:
				m.kind = fmt.Sprintf("u%d", 8*enum.Size)
			case isStruct && (inner.Kind == "union" || inner.Size <= 4 && m.kind == "amdsmi_ras_feature_t::ras_info_"):
				m.kind = fmt.Sprintf("u%d", 8*inner.Size)
			case isStruct:
				if err := add(m.kind); err != nil {
					return err
				}
			case m.kind == "bool":
				m.kind = "u8"
			case m.kind == "processor", strings.HasSuffix(m.kind, "*"):
				m.kind = "ptr"
			case widths[m.kind] == 0:
				return fmt.Errorf("%s: %s.%s is a %s", path, name, m.name, m.kind)
			}
			st.fields = append(st.fields, m)
		}
		all = append(all, st)
		return nil
	}
	for _, s := range old {
		if err := add(s.name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// place computes what is not given: offsets, sizes and alignments.
func place(all []*structure) error {
	for i, s := range all {
		end, align := 0, 1
		for j := range s.fields {
			m := &s.fields[j]
			a := widths[m.kind]
			m.width = a
			if a == 0 {
				inner := find(all[:i], m.kind, s.abis[0])
				if inner == nil {
					return fmt.Errorf("%s.%s: %s is not declared before", s.name, m.name, m.kind)
				}
				m.width, a = inner.size, inner.align
			}
			if m.kind == "char" {
				a = 1
			}
			at := (end + a - 1) / a * a
			if s.placed && at != m.offset {
				return fmt.Errorf("%s.%s lies at %d, by its type at %d", s.name, m.name, m.offset, at)
			}
			m.offset = at
			end, align = at+m.width*m.count(), max(align, a)
		}
		size := (end + align - 1) / align * align
		if s.placed && (size != s.size || align != s.align) {
			return fmt.Errorf("%s has %d bytes, by its fields %d", s.name, s.size, size)
		}
		s.size, s.align = size, align
	}
	return nil
}

func find(all []*structure, name string, abi int) *structure {
	for _, s := range all {
		if s.name == name && slices.Contains(s.abis, abi) {
			return s
		}
	}
	return nil
}
