package dashboards

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// choice is what a reader has chosen: values by variable, written as Grafana puts
// them into a query of the Prometheus data source.
type choice map[string]string

// timing are Grafana's own, for targets that are scraped each second.
var timing = strings.NewReplacer("$__rate_interval", "5s", "$__range", "15s")

func (c choice) apply(expr string) string {
	return variableUse.ReplaceAllStringFunc(timing.Replace(expr), func(use string) string {
		if v, ok := c[strings.TrimPrefix(use, "$")]; ok {
			return v
		}
		return use
	})
}

var special = regexp.MustCompile(`[$^*{}\[\]'+?.()|\\]`)

// regexValue escapes a value as Grafana does where several may be chosen.
func regexValue(v string) string { return special.ReplaceAllString(v, `\\$0`) }

var labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
var queryResult = regexp.MustCompile(`^query_result\((.+)\)$`)

// options are the values that a variable offers.
func (s *server) options(v *jsonVariable, c choice) (list []string, err error) {
	q := c.apply(v.question(s.t))
	if m := labelValues.FindStringSubmatch(q); m != nil {
		raw, err := s.ask("label/"+m[2]+"/values", url.Values{"match[]": {m[1]}})
		if err != nil {
			return nil, err
		}
		return parse[[]string](s.t, raw), nil
	}
	m := queryResult.FindStringSubmatch(q)
	if m == nil {
		return nil, fmt.Errorf("neither label_values nor query_result: %s", q)
	}
	rows, err := s.query(m[1], true)
	if err != nil {
		return nil, err
	}
	pattern := regexp.MustCompile(strings.Trim(v.Regex, "/"))
	for _, r := range rows {
		var text []string
		for k, v := range r.labels {
			text = append(text, fmt.Sprintf("%s=%q", k, v))
		}
		if m := pattern.FindStringSubmatch("{" + strings.Join(text, ",") + "}"); m != nil {
			list = append(list, m[1])
		}
	}
	return list, nil
}

// choose fills in all variables of a board: prefer names a value for some, of the
// others all are chosen. It fails where a variable offers nothing, or not what is preferred.
func (s *server) choose(t *testing.T, b *jsonBoard, prefer map[string]string) choice {
	t.Helper()
	c := choice{}
	for i := range b.Templating.List {
		v := &b.Templating.List[i]
		if v.Type == "datasource" {
			continue
		}
		values, err := s.options(v, c)
		if err != nil || len(values) == 0 {
			t.Fatalf("%s: variable %s offers %q, %v: %s", b.UID, v.Name, values, err, c.apply(v.question(t)))
		}
		p, preferred := prefer[v.Name]
		if preferred && !slices.Contains(values, p) {
			t.Fatalf("%s: variable %s offers %q and not %q", b.UID, v.Name, values, p)
		}
		switch {
		case preferred:
			c[v.Name] = regexValue(p)
		case !v.IncludeAll:
			c[v.Name] = regexValue(values[0])
		case v.AllValue != "":
			c[v.Name] = v.AllValue
		default:
			for j := range values {
				values[j] = regexValue(values[j])
			}
			c[v.Name] = "(" + strings.Join(values, "|") + ")"
		}
	}
	return c
}

// legend is how Grafana calls a series.
func legend(format string, labels map[string]string) string {
	return legendLabel.ReplaceAllStringFunc(format, func(use string) string { return labels[strings.Trim(use, "{}")] })
}
