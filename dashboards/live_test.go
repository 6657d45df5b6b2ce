package dashboards

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// one is what is chosen when a reader does not look at everything. The function is
// one that also fails.
var one = map[string]string{
	"cluster": westCluster, "host": westHost, "pool": westPool, "gpu": "1", "namespace": "ml", "pod": "train-0", "op": "hipMalloc",
}

// Every query of every dashboard answers, with everything chosen and with one value
// of each variable, from a real Prometheus that scrapes real workers under work.
func TestQueries(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 20 s, most of it waiting for data")
	}
	p := stand(t)
	boards := committed(t)
	t.Run("variables", func(t *testing.T) { testVariables(t, p, boards) })
	began := time.Now()
	for _, b := range boards {
		for name, prefer := range map[string]map[string]string{"all": {"cluster": "All"}, "one": one} {
			t.Run(b.UID+"/"+name, func(t *testing.T) {
				if name == "all" {
					prefer = nil
				}
				if name == "all" && slices.ContainsFunc(b.Templating.List, func(v jsonVariable) bool { return v.Name == "host" && !v.IncludeAll }) {
					prefer = map[string]string{"host": westHost} // that is where fans are
				}
				c := p.choose(t, &b, prefer)
				only := map[string]string{}
				if name == "one" {
					only = b.chosen(prefer)
				}
				for i := range b.Panels {
					if b.Panels[i].Type != "row" {
						p.checkPanel(t, &b, &b.Panels[i], c, only)
					}
				}
				for _, a := range b.Annotations.List {
					p.checkAnnotation(t, &b, &a, c)
				}
			})
		}
	}
	t.Logf("queries took %v", time.Since(began))
	t.Run("native histograms", func(t *testing.T) { testNative(t, p) })
	t.Run("rules", func(t *testing.T) { testLiveRules(t, p) })
}

// chosen are the labels that a board's variables narrow down. That of a host's
// instance narrows its cluster and pool down as well.
func (b *jsonBoard) chosen(prefer map[string]string) map[string]string {
	only := map[string]string{"cluster": westCluster, "pool": westPool, "host": westHost}
	for _, v := range b.Templating.List {
		if p, ok := prefer[v.Name]; ok {
			only[v.Name] = p
		}
	}
	return only
}

// testNative: native histograms and classic buckets tell the same, as far as buckets
// that double can.
func testNative(t *testing.T, p *server) {
	at := time.Now()
	classic, err := p.at(at, `histogram_quantile(0.99, sum by (op, le) (rate(hip_rpc_duration_seconds_bucket{side="client",op=~"hipMalloc|hipFree|hipMemcpy"}[5s])))`)
	if err != nil {
		t.Fatal(err)
	}
	native, err := p.at(at, `histogram_quantile(0.99, sum by (op) (rate(hip_rpc_duration_seconds{side="client",op=~"hipMalloc|hipFree|hipMemcpy"}[5s])))`)
	if err != nil {
		t.Fatal(err)
	}
	if len(native) != 3 || len(classic) != 3 {
		t.Errorf("%d functions in native histograms, %d in classic buckets", len(native), len(classic))
	}
	for _, n := range native {
		for _, c := range classic {
			if n.labels["op"] == c.labels["op"] && (!(c.values[0] >= n.values[0]/2.1) || c.values[0] > n.values[0]*2.1) {
				t.Errorf("%s: p99 is %v, by classic buckets %v", n.labels["op"], n.values[0], c.values[0])
			}
		}
	}
}

// testVariables: each variable offers what there is, and less when less is chosen.
func testVariables(t *testing.T, p *server, boards []jsonBoard) {
	for _, b := range boards {
		for i := range b.Templating.List {
			v := &b.Templating.List[i]
			if v.Type == "datasource" {
				continue
			}
			everything, err := p.options(v, p.choose(t, &b, nil))
			if err != nil || len(everything) == 0 {
				t.Errorf("%s: %s offers %q, %v", b.UID, v.Name, everything, err)
			}
			if v.Name == "instance" {
				west, err := p.options(v, p.choose(t, &b, map[string]string{"cluster": westCluster}))
				if err != nil || len(west) != 1 || len(everything) != 2 && !b.hasSingle("host") {
					t.Errorf("%s: instances %q, of %s %q, %v", b.UID, everything, westCluster, west, err)
				}
			}
		}
	}
}

func (b *jsonBoard) hasSingle(name string) bool {
	return slices.ContainsFunc(b.Templating.List, func(v jsonVariable) bool { return v.Name == name && !v.IncludeAll })
}

var linkLabel = regexp.MustCompile(`__field\.labels\.(\w+)`)

// checkPanel runs all queries of a panel: they answer, with numbers, and with the
// labels that legends, columns and links need, and only those that were chosen; the panel's unit is that of the metrics.
func (s *server) checkPanel(t *testing.T, b *jsonBoard, p *jsonPanel, c choice, only map[string]string) {
	t.Helper()
	where := p.in(b)
	legends := map[string]bool{}
	found := map[string]bool{} // labels
	for _, q := range p.Targets {
		expr := c.apply(q.Expr)
		tree, err := s.parseExpr(expr)
		if err != nil {
			t.Errorf("%s: %v\n%s", where, err, expr)
			continue
		}
		s.checkUnit(t, b, p, &q, tree)
		list, err := s.query(expr, q.Instant)
		switch {
		case err != nil:
			t.Errorf("%s: %v\n%s", where, err, expr)
			continue
		case !slices.ContainsFunc(list, func(r series) bool { return r.known() }):
			t.Errorf("%s has no data: %d series\n%s", where, len(list), expr)
			continue
		}
		for _, l := range p.FieldConfig.Defaults.Links {
			for _, m := range linkLabel.FindAllStringSubmatch(l.URL, -1) {
				if slices.ContainsFunc(list, func(r series) bool { return r.labels[m[1]] == "" }) {
					t.Errorf("%s: a series has no label %s to go on with\n%s", where, m[1], expr)
				}
			}
		}
		for _, r := range list {
			for l, v := range r.labels {
				found[l] = true
				if want, ok := only[l]; ok && v != want {
					t.Errorf("%s: %s %q was chosen, and here is one of %q\n%s", where, l, want, v, expr)
				}
			}
			if p.Type == "table" {
				continue
			}
			name := legend(q.LegendFormat, r.labels)
			if legends[name] {
				t.Errorf("%s: two series are called %q\n%s", where, name, expr)
			}
			legends[name] = true
		}
		for _, m := range legendLabel.FindAllStringSubmatch(q.LegendFormat, -1) {
			if !slices.ContainsFunc(list, func(r series) bool { return r.labels[m[1]] != "" }) {
				t.Errorf("%s: no series has label %s\n%s", where, m[1], expr)
			}
		}
	}
	if p.Type == "table" && len(p.Targets) > 0 {
		s.checkColumns(t, where, p, found)
	}
}

// checkColumns: a table's columns are the labels of its answers, and no others.
func (s *server) checkColumns(t *testing.T, where string, p *jsonPanel, found map[string]bool) {
	t.Helper()
	var columns []string
	for _, tr := range p.Transformations {
		for field := range tr.Options.RenameByName {
			columns = append(columns, field)
		}
		for field := range tr.Options.ExcludeByName {
			columns = append(columns, field)
		}
	}
	columns = slices.DeleteFunc(columns, func(c string) bool { return c == "Time" })
	values := 0
	for _, c := range columns {
		if strings.HasPrefix(c, "Value") {
			values++
		} else if !found[c] {
			t.Errorf("%s: no row has label %s", where, c)
		}
	}
	if values != len(p.Targets) {
		t.Errorf("%s: %d columns for %d queries", where, values, len(p.Targets))
	}
	for l := range found {
		if !slices.Contains(columns, l) {
			t.Errorf("%s: label %s has no column", where, l)
		}
	}
}

// checkUnit compares the unit shown with what the expression measures.
func (s *server) checkUnit(t *testing.T, b *jsonBoard, p *jsonPanel, q *jsonTarget, tree *node) {
	t.Helper()
	d, err := tree.dim()
	if err != nil {
		t.Errorf("%s: %v\n%s", p.in(b), err, q.Expr)
		return
	}
	unit := p.FieldConfig.Defaults.Unit
	if p.Type == "heatmap" {
		d = dimOfName(tree.metrics()[0])
		if p.Options.YAxis.Unit != unit {
			t.Errorf("%s: the axis has unit %q", p.in(b), p.Options.YAxis.Unit)
		}
	}
	if p.Type == "table" {
		column := p.column(q.RefID)
		if column == "" {
			return // not shown
		}
		unit = p.columnUnit(t, column)
	}
	if !slices.Contains(d.units(), unit) {
		t.Errorf("%s: unit %q of what has %v\n%s", p.in(b), unit, d.units(), q.Expr)
	}
}

// column is the title of the column of a table's query, "" if it is not shown.
func (p *jsonPanel) column(ref string) string {
	for _, tr := range p.Transformations {
		for field, to := range tr.Options.RenameByName {
			if field == "Value #"+ref || field == "Value" && len(p.Targets) == 1 {
				return to
			}
		}
	}
	return ""
}

// columnUnit is the unit of a table's column.
func (p *jsonPanel) columnUnit(t *testing.T, title string) string {
	t.Helper()
	for _, o := range p.FieldConfig.Overrides {
		for _, prop := range o.Properties {
			if o.Matcher.Options == title && prop.ID == "unit" {
				return parse[string](t, prop.Value)
			}
		}
	}
	return fmt.Sprintf("none of its own: %q", title)
}

func (s *server) checkAnnotation(t *testing.T, b *jsonBoard, a *jsonAnnotation, c choice) {
	t.Helper()
	expr := c.apply(a.Expr)
	list, err := s.query(expr, false)
	if err != nil || len(list) == 0 {
		t.Errorf("%s: annotation %s: %d series, %v\n%s", b.UID, a.Name, len(list), err, expr)
		return
	}
	for _, m := range legendLabel.FindAllStringSubmatch(a.TitleFormat+a.TextFormat, -1) {
		if list[0].labels[m[1]] == "" {
			t.Errorf("%s: annotation %s: no label %s", b.UID, a.Name, m[1])
		}
	}
}
