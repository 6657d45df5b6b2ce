package page

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Whatever a text is, a parser of HTML finds it where it was put, and nothing else.
func FuzzMarkup(f *testing.F) {
	for _, s := range evil {
		f.Add(s)
	}
	f.Add("{}")
	f.Add(`&lt;b&gt; &#34; &amp`)
	f.Fuzz(func(t *testing.T, s string) {
		s = clean(s) // as all texts of the page are
		m := &markup{}
		m.put(`<b class="{}" id="x">{}</b>`, s, s)
		m.putIf(`<i>{}</i>`, "")
		z := html.NewTokenizer(strings.NewReader(m.b.String()))
		if z.Next() != html.StartTagToken {
			t.Fatalf("%q: no element", s)
		}
		if e := z.Token(); e.Data != "b" || len(e.Attr) != 2 || e.Attr[0].Val != s || e.Attr[1].Val != "x" {
			t.Fatalf("%q becomes %v", s, e)
		}
		if s != "" {
			if z.Next() != html.TextToken {
				t.Fatalf("%q is no text: %v", s, z.Token())
			}
			if got := z.Token().Data; got != s {
				t.Fatalf("%q becomes %q", s, got)
			}
		}
		if z.Next() != html.EndTagToken || z.Token().Data != "b" || z.Next() != html.ErrorToken {
			t.Fatalf("%q: more than one element: %s", s, m.b.String())
		}
	})
}

func TestMarkupHasAPlaceForEachText(t *testing.T) {
	for _, texts := range [][]string{nil, {"one", "two"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q go into one place", texts)
				}
			}()
			new(markup).put("<b>{}</b>", texts...)
		}()
	}
}
