package dashboards

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	variableUse = regexp.MustCompile(`\$\{?(__)?([a-z_]+)`)
	legendLabel = regexp.MustCompile(`{{(\w+)}}`)
	linkPath    = regexp.MustCompile(`^/d/([a-z-]+)(\?.*)?$`)
)

// Grafana's own variables that are used here.
var builtIn = []string{"__rate_interval", "__range", "__url_time_range", "__field", "__data"}

func TestSchema(t *testing.T) {
	boards := committed(t)
	vars := map[string][]string{} // by uid
	for _, b := range boards {
		if vars[b.UID] != nil {
			t.Errorf("two dashboards have uid %s", b.UID)
		}
		for _, v := range b.Templating.List {
			vars[b.UID] = append(vars[b.UID], v.Name)
		}
	}
	for _, b := range boards {
		t.Run(b.UID, func(t *testing.T) {
			if b.Title == "" || b.Description == "" || b.Refresh == "" || b.Time.From == "" || b.Time.To != "now" || !slices.Contains(b.Tags, tag) {
				t.Errorf("title %q, description %q, refresh %q, time %v, tags %v", b.Title, b.Description, b.Refresh, b.Time, b.Tags)
			}
			checkPlaces(t, &b)
			checkPanels(t, &b)
			checkVariables(t, &b, vars[b.UID])
			checkLinks(t, &b, vars)
		})
	}
}

// checkPlaces: numbers are unique, and panels lie beside each other without gaps
// between lines.
func checkPlaces(t *testing.T, b *jsonBoard) {
	ids, cells, bottom := map[int]bool{}, map[[2]int]int{}, 0
	for _, p := range b.Panels {
		if p.ID == 0 || ids[p.ID] {
			t.Errorf("%s: number %d is taken", p.Title, p.ID)
		}
		ids[p.ID] = true
		g := p.GridPos
		if g.X < 0 || g.W <= 0 || g.H <= 0 || g.X+g.W > columnsOfGrid {
			t.Errorf("%s lies at %+v", p.Title, g)
		}
		if g.Y > bottom {
			t.Errorf("%s: nothing lies above it, between %d and %d", p.Title, bottom, g.Y)
		}
		bottom = max(bottom, g.Y+g.H)
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other, ok := cells[[2]int{x, y}]; ok {
					t.Fatalf("%s (%d) lies on panel %d", p.Title, p.ID, other)
				}
				cells[[2]int{x, y}] = p.ID
			}
		}
	}
}

func checkPanels(t *testing.T, b *jsonBoard) {
	if len(b.Panels) == 0 || b.Panels[0].Type != "row" {
		t.Error("the first panel is no row")
	}
	titles, row := map[string]bool{}, ""
	for _, p := range b.Panels {
		if p.Type == "row" {
			row = p.Title
			continue
		}
		name := row + "/" + p.Title
		if titles[name] {
			t.Errorf("two panels are called %s", name)
		}
		titles[name] = true
		d := &p.FieldConfig.Defaults
		for what, s := range map[string]string{"title": p.Title, "description": p.Description, "unit": d.Unit, "text for no data": d.NoValue, "colour": d.Color.Mode, "data source": p.Datasource.UID} {
			if s == "" {
				t.Errorf("%s has no %s", name, what)
			}
		}
		if !strings.HasSuffix(p.Description, ".") {
			t.Errorf("%s: the description is no sentence: %q", name, p.Description)
		}
		if len(d.Thresholds.Steps) == 0 || d.Thresholds.Steps[0].Value != nil {
			t.Errorf("%s: thresholds %+v", name, d.Thresholds.Steps)
		}
		if len(p.Targets) == 0 {
			t.Errorf("%s asks nothing", name)
		}
		refs := map[string]bool{}
		for _, q := range p.Targets {
			if q.RefID == "" || refs[q.RefID] || q.Expr == "" || q.Datasource.UID != "${datasource}" || q.Instant == q.Range {
				t.Errorf("%s: query %+v", name, q)
			}
			refs[q.RefID] = true
			if (q.LegendFormat == "") != (p.Type == "table") {
				t.Errorf("%s: legend %q", name, q.LegendFormat)
			}
			if strings.Contains(q.Expr, "[5m]") || strings.Contains(q.Expr, "[1m]") {
				t.Errorf("%s: a fixed time: %s", name, q.Expr)
			}
		}
	}
}

func checkVariables(t *testing.T, b *jsonBoard, defined []string) {
	used := map[string]bool{}
	use := func(where, s string) {
		for _, m := range variableUse.FindAllStringSubmatch(s, -1) {
			name := m[1] + m[2]
			used[name] = true
			if !slices.Contains(defined, name) && !slices.Contains(builtIn, name) {
				t.Errorf("%s uses $%s, which is not defined", where, name)
			}
		}
	}
	for i, v := range b.Templating.List {
		if v.Label == "" || v.Description == "" {
			t.Errorf("variable %s: label %q, description %q", v.Name, v.Label, v.Description)
		}
		q := v.question(t)
		use("variable "+v.Name, q)
		for _, later := range defined[i:] {
			if strings.Contains(q, "$"+later) {
				t.Errorf("variable %s needs %s, which comes later", v.Name, later)
			}
		}
	}
	for _, a := range b.Annotations.List {
		use("annotation "+a.Name, a.Expr)
		if a.Expr == "" || a.Target.Expr != a.Expr || a.TitleFormat == "" || a.IconColor == "" {
			t.Errorf("annotation %+v", a)
		}
	}
	for _, p := range b.Panels {
		for _, q := range p.Targets {
			use(p.Title, q.Expr)
		}
		for _, l := range p.FieldConfig.Defaults.Links {
			use(p.Title, l.URL)
		}
	}
	for _, name := range defined {
		if !used[name] && name != "datasource" {
			t.Errorf("variable %s is not used", name)
		}
	}
}

// checkLinks: they lead to boards that there are, set variables these have, and
// keep time, data source and cluster. What is clicked has what they take from it.
func checkLinks(t *testing.T, b *jsonBoard, vars map[string][]string) {
	if len(b.Links) != len(vars)-1 {
		t.Errorf("%d links to %d other dashboards", len(b.Links), len(vars)-1)
	}
	for _, l := range b.Links {
		m := linkPath.FindStringSubmatch(l.URL)
		if m == nil || vars[m[1]] == nil || m[1] == b.UID || !l.IncludeVars || !l.KeepTime {
			t.Errorf("link %+v", l)
		}
	}
	for _, p := range b.Panels {
		columns := renamed(&p)
		for _, l := range linksOf(t, &p) {
			m := linkPath.FindStringSubmatch(l.URL)
			if m == nil || vars[m[1]] == nil || l.Title == "" {
				t.Errorf("%s: link %+v", p.Title, l)
				continue
			}
			query, err := url.ParseQuery(strings.TrimPrefix(m[2], "?"))
			if err != nil || !strings.Contains(m[2], "${__url_time_range}") || !strings.Contains(m[2], "${datasource:queryparam}") || !strings.Contains(m[2], "${cluster:queryparam}") {
				t.Errorf("%s: link %s, %v", p.Title, l.URL, err)
			}
			for name, values := range query {
				v, isVar := strings.CutPrefix(name, "var-")
				if !isVar {
					continue
				}
				if !slices.Contains(vars[m[1]], v) {
					t.Errorf("%s: link to %s sets %s, which that does not have", p.Title, m[1], v)
				}
				if c, ok := strings.CutPrefix(values[0], `${__data.fields["`); ok && !slices.Contains(columns, strings.TrimSuffix(c, `"]:percentencode}`)) {
					t.Errorf("%s: link to %s takes %s, which is no column", p.Title, m[1], values[0])
				}
			}
		}
	}
}

// renamed are the titles of a table's columns.
func renamed(p *jsonPanel) (titles []string) {
	for _, tr := range p.Transformations {
		for _, title := range tr.Options.RenameByName {
			titles = append(titles, title)
		}
	}
	return titles
}

// linksOf are those of a panel and of its columns.
func linksOf(t *testing.T, p *jsonPanel) []jsonLink {
	list := slices.Clone(p.FieldConfig.Defaults.Links)
	titles := renamed(p)
	for _, o := range p.FieldConfig.Overrides {
		if o.Matcher.ID != "byName" || !slices.Contains(titles, o.Matcher.Options) {
			t.Errorf("%s: there is no column %+v", p.Title, o.Matcher)
		}
		for _, prop := range o.Properties {
			if prop.ID == "links" {
				list = append(list, parse[[]jsonLink](t, prop.Value)...)
			}
		}
	}
	return list
}

// every panel is named in messages as its board and itself.
func (p *jsonPanel) in(b *jsonBoard) string { return fmt.Sprintf("%s, %q", b.UID, p.Title) }
