package influx

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// point is one line as a server reads it.
type point struct {
	measurement string
	tags        map[string]string
	fields      map[string]any
	time        int64
}

// parseLines reads line protocol strictly: what some server might refuse, or might read
// otherwise, is an error here.
func parseLines(body string) (list []point, err error) {
	if !utf8.ValidString(body) {
		return nil, errors.New("not UTF-8")
	}
	for body != "" {
		l, rest, ended := strings.Cut(body, "\n")
		if !ended {
			return nil, fmt.Errorf("no end of line after %q", l)
		}
		p, err := parseLine(l)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", l, err)
		}
		list, body = append(list, p), rest
	}
	return list, nil
}

func parseLine(l string) (p point, err error) {
	for _, r := range l {
		if r < ' ' || r == 0x7f {
			return p, fmt.Errorf("control character %q", r)
		}
	}
	s := &scanner{s: l}
	p = point{tags: map[string]string{}, fields: map[string]any{}}
	if p.measurement, err = s.word(", "); err != nil {
		return p, err
	}
	if strings.HasPrefix(p.measurement, "#") {
		return p, errors.New("a comment")
	}
	for s.take(',') {
		key, err := s.word("=")
		if err != nil {
			return p, err
		}
		if !s.take('=') {
			return p, errors.New("a tag without =")
		}
		value, err := s.word(", ")
		if err != nil {
			return p, err
		}
		if _, twice := p.tags[key]; twice || key == "time" {
			return p, fmt.Errorf("tag %q", key)
		}
		p.tags[key] = value
	}
	if !s.take(' ') {
		return p, errors.New("no fields")
	}
	for {
		key, err := s.word("=")
		if err != nil {
			return p, err
		}
		if !s.take('=') {
			return p, errors.New("a field without =")
		}
		v, err := s.value()
		if err != nil {
			return p, fmt.Errorf("field %q: %w", key, err)
		}
		if _, twice := p.fields[key]; twice || p.tags[key] != "" {
			return p, fmt.Errorf("field %q is not the only one of its name", key)
		}
		p.fields[key] = v
		if !s.take(',') {
			break
		}
	}
	if !s.take(' ') {
		return p, errors.New("no time")
	}
	p.time, err = strconv.ParseInt(s.s, 10, 64)
	return p, err
}

// scanner reads from the beginning of s.
type scanner struct{ s string }

func (s *scanner) take(c byte) bool {
	if s.s == "" || s.s[0] != c {
		return false
	}
	s.s = s.s[1:]
	return true
}

// word reads a name or a tag's value up to a character of end. The only escapes are those
// on which everybody agrees.
func (s *scanner) word(end string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s.s); i++ {
		switch c := s.s[i]; {
		case strings.IndexByte(end, c) >= 0:
			s.s = s.s[i:]
			if b.Len() == 0 {
				return "", errors.New("an empty name or value")
			}
			return b.String(), nil
		case c == '\\':
			if i+1 == len(s.s) || strings.IndexByte(", =", s.s[i+1]) < 0 {
				return "", errors.New("a backslash that is no escape")
			}
			i++
			b.WriteByte(s.s[i])
		case c == ',' || c == ' ' || c == '=':
			return "", fmt.Errorf("a bare %q", c)
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New("the line ends in a name or value")
}

func (s *scanner) value() (any, error) {
	if s.take('"') {
		return s.text()
	}
	i := strings.IndexAny(s.s, ", ")
	if i < 0 {
		return nil, errors.New("the line ends in a value")
	}
	v := s.s[:i]
	s.s = s.s[i:]
	switch {
	case v == "true" || v == "false":
		return v == "true", nil
	case strings.HasSuffix(v, "i"):
		return strconv.ParseInt(v[:len(v)-1], 10, 64)
	case strings.HasSuffix(v, "u"):
		return strconv.ParseUint(v[:len(v)-1], 10, 64)
	case v == "" || strings.Trim(v, "0123456789.+-e") != "": // not Inf, NaN, hexadecimal, 1_000
		return nil, fmt.Errorf("%q is no number", v)
	}
	f, err := strconv.ParseFloat(v, 64)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("%q", v)
	}
	return f, err
}

func (s *scanner) text() (string, error) {
	var b strings.Builder
	for i := 0; i < len(s.s); i++ {
		switch c := s.s[i]; c {
		case '"':
			s.s = s.s[i+1:]
			return b.String(), nil
		case '\\':
			if i+1 == len(s.s) || s.s[i+1] != '"' && s.s[i+1] != '\\' {
				return "", errors.New("a backslash that is no escape")
			}
			i++
			b.WriteByte(s.s[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New("a text without an end")
}
