package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

type picture struct {
	columns int
	bands   []band
	arrows  []arrow
	boxes   map[string]*box
}

type band struct {
	title string
	rows  [][]*box
}

type box struct {
	first, last   int // columns, from 0
	title, second string
	row           int // from the top
	y             float64
}

type arrow struct {
	from, to *box
	text     string
}

func parse(text string) (*picture, error) {
	p := &picture{boxes: map[string]*box{}}
	row := -1
	for i, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		var err error
		switch word {
		case "", "#":
		case "columns":
			p.columns, err = strconv.Atoi(rest)
		case "band":
			p.bands = append(p.bands, band{title: rest})
		case "row":
			if len(p.bands) == 0 {
				err = errors.New("a row of no band")
				break
			}
			b := &p.bands[len(p.bands)-1]
			b.rows = append(b.rows, nil)
			row++
		case "box":
			err = p.box(rest, row)
		case "arrow":
			err = p.arrow(rest)
		default:
			err = fmt.Errorf("%q is unknown", word)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if p.columns < 1 || len(p.boxes) == 0 {
		return nil, errors.New("no columns, or nothing in them")
	}
	return p, nil
}

func (p *picture) box(text string, row int) error {
	f := strings.SplitN(text, " ", 3)
	if len(f) < 3 || row < 0 {
		return errors.New("box NAME COLUMNS TITLE, in a row")
	}
	b := &box{row: row}
	from, to, more := strings.Cut(f[1], "-")
	if !more {
		to = from
	}
	first, err1 := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	b.first, b.last = first-1, last-1
	if b.first < 0 || b.last < b.first || b.last >= p.columns {
		return fmt.Errorf("there are no columns %s", f[1])
	}
	if p.boxes[f[0]] != nil {
		return fmt.Errorf("a second box %s", f[0])
	}
	p.boxes[f[0]] = b
	b.title = f[2]
	if i := strings.Index(b.title, " | "); i > 0 && b.title[i-1] != ' ' {
		b.title, b.second = b.title[:i], b.title[i+len(" | "):]
	}
	here := &p.bands[len(p.bands)-1]
	n := len(here.rows) - 1
	if n < 0 {
		return errors.New("a box of no row")
	}
	for _, other := range here.rows[n] {
		if b.first <= other.last && other.first <= b.last {
			return fmt.Errorf("%s lies over %q", f[0], other.title)
		}
	}
	here.rows[n] = append(here.rows[n], b)
	return nil
}

func (p *picture) arrow(text string) error {
	f := strings.SplitN(text, " ", 3)
	if len(f) < 2 {
		return errors.New("arrow FROM TO [TEXT]")
	}
	a := arrow{from: p.boxes[f[0]], to: p.boxes[f[1]]}
	if a.from == nil || a.to == nil {
		return fmt.Errorf("there is no box %s or no box %s", f[0], f[1])
	}
	if a.from.row == a.to.row {
		return fmt.Errorf("%s and %s stand in one row", f[0], f[1])
	}
	if max(a.from.first, a.to.first) > min(a.from.last, a.to.last) {
		return fmt.Errorf("%s and %s have no column in common", f[0], f[1])
	}
	if len(f) == 3 {
		a.text = f[2]
	}
	p.arrows = append(p.arrows, a)
	return nil
}
