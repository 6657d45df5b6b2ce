package page

import (
	"html"
	"strings"
)

// markup builds HTML. Markup itself is only what is written in this package, as a
// literal: a string that came from elsewhere is of another type and does not compile in
// its place. All else is text, which is escaped. It goes into elements and into
// attributes in double quotes, nowhere else.
//
// html/template would do as well, but where it is linked the linker keeps every method
// of every type, because a template may name any: a fifth of the whole program.
type markup struct{ b strings.Builder }

type literal string

// put adds a form, in which the n-th {} stands for the n-th text.
func (m *markup) put(form literal, texts ...string) {
	parts := strings.Split(string(form), "{}")
	if len(parts) != len(texts)+1 {
		panic("page: not one text for each place of " + form)
	}
	m.b.WriteString(parts[0])
	for i, t := range texts {
		m.b.WriteString(html.EscapeString(t))
		m.b.WriteString(parts[i+1])
	}
}

// putIf is put, if the text is not empty.
func (m *markup) putIf(form literal, text string) {
	if text != "" {
		m.put(form, text)
	}
}

// cell is one of a table.
type cell struct {
	form literal
	text string
}

// Names may be written from right to left, which must not turn around what is beside
// them.
func name(s string) cell   { return cell{"<td><bdi>{}</bdi></td>", s} }
func plain(s string) cell  { return cell{"<td>{}</td>", s} }
func figure(s string) cell { return cell{`<td class="n">{}</td>`, s} }

// table writes a list under a heading. Columns that begin with # are of figures; where
// the list is empty there is only what to say then.
func table[T any](m *markup, heading, none literal, columns []literal, list []T, row func(*T) []cell) {
	m.put("\n<h2>" + heading + "</h2>\n")
	if len(list) == 0 {
		m.put(`<p class="empty">` + none + "</p>")
		return
	}
	m.put(`<div class="scroll"><table>` + "\n<thead><tr>")
	for _, c := range columns {
		if c[0] == '#' {
			m.put(`<th class="n">` + c[1:] + "</th>")
		} else {
			m.put("<th>" + c + "</th>")
		}
	}
	m.put("</tr></thead>\n<tbody>\n")
	for i := range list {
		m.put("<tr>")
		for _, c := range row(&list[i]) {
			m.put(c.form, c.text)
		}
		m.put("</tr>\n")
	}
	m.put("</tbody></table></div>\n")
}
