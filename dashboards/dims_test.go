package dashboards

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// dim is what a PromQL expression measures.
type dim struct {
	bytes, seconds, joules, celsius, volts int  // exponents
	share                                  bool // a part of a whole, 0 to 1 or more
}

// units are Grafana's for a dimension.
func (d dim) units() []string {
	switch d {
	case dim{}:
		return []string{"short"}
	case dim{share: true}:
		return []string{"percentunit"}
	case dim{bytes: 1}:
		return []string{"bytes"}
	case dim{bytes: 1, seconds: -1}:
		return []string{"Bps"}
	case dim{seconds: 1}:
		return []string{"s"}
	case dim{seconds: -1}:
		return []string{"ops", "cps", "hertz"}
	case dim{joules: 1}:
		return []string{"joule"}
	case dim{joules: 1, seconds: -1}:
		return []string{"watt"}
	case dim{celsius: 1}:
		return []string{"celsius"}
	case dim{volts: 1}:
		return []string{"volt"}
	}
	return nil
}

// dimOfName reads a metric's unit off its name.
func dimOfName(name string) dim {
	name = strings.TrimSuffix(name, "_total")
	for _, u := range []struct {
		suffix string
		dim    dim
	}{
		{"_count", dim{}}, {"_bytes_per_second", dim{bytes: 1, seconds: -1}}, {"_bytes", dim{bytes: 1}}, {"_seconds", dim{seconds: 1}},
		{"_seconds_sum", dim{seconds: 1}}, {"_seconds_bucket", dim{seconds: 1}}, {"_watts", dim{joules: 1, seconds: -1}},
		{"_joules", dim{joules: 1}}, {"_celsius", dim{celsius: 1}}, {"_volts", dim{volts: 1}}, {"_hertz", dim{seconds: -1}}, {"_ratio", dim{share: true}},
	} {
		if strings.HasSuffix(name, u.suffix) {
			return u.dim
		}
	}
	return dim{}
}

// node is a part of an expression as Prometheus parses it.
type node struct {
	Type, Name, Op string
	Bool           bool
	Func           struct{ Name string }
	Args           []node
	Expr, LHS, RHS *node
	Matchers       []struct{ Name, Value string }
}

// parseExpr asks Prometheus what an expression is made of.
func (s *server) parseExpr(expr string) (*node, error) {
	raw, err := s.ask("parse_query", url.Values{"query": {expr}})
	if err != nil {
		return nil, err
	}
	n := &node{}
	return n, json.Unmarshal(raw, n)
}

// namesInRegex are metrics chosen by a regular expression on their names.
func (n *node) namesInRegex() []string {
	for _, m := range n.Matchers {
		if m.Name == "__name__" {
			return strings.Split(m.Value, "|")
		}
	}
	return nil
}

// walk visits all parts.
func (n *node) walk(visit func(*node)) {
	if n == nil {
		return
	}
	visit(n)
	for i := range n.Args {
		n.Args[i].walk(visit)
	}
	n.Expr.walk(visit)
	n.LHS.walk(visit)
	n.RHS.walk(visit)
}

// metrics are the names that an expression reads.
func (n *node) metrics() (names []string) {
	n.walk(func(n *node) {
		if n.Type == "vectorSelector" || n.Type == "matrixSelector" {
			names = append(names, n.namesInRegex()...)
		}
	})
	return names
}

// dim works out what an expression measures, or says why it measures nothing: it
// adds bytes to seconds, say.
func (n *node) dim() (dim, error) {
	switch n.Type {
	case "vectorSelector", "matrixSelector":
		names := n.namesInRegex()
		d := dimOfName(names[0])
		for _, other := range names[1:] {
			if o := dimOfName(other); o != d {
				return d, fmt.Errorf("%s and %s", names[0], other)
			}
		}
		return d, nil
	case "numberLiteral":
		return dim{}, nil
	case "parenExpr", "unaryExpr":
		return n.Expr.dim()
	case "aggregation":
		d, err := n.Expr.dim()
		if n.Op == "count" {
			d = dim{}
		}
		return d, err
	case "call":
		return n.call()
	case "binaryExpr":
		return n.binary()
	}
	return dim{}, fmt.Errorf("a %s", n.Type)
}

func (n *node) call() (dim, error) {
	switch n.Func.Name {
	case "time":
		return dim{seconds: 1}, nil
	case "increase", "label_replace":
		return n.Args[0].dim()
	case "rate":
		d, err := n.Args[0].dim()
		d.seconds--
		d.share = d == dim{}
		return d, err
	case "histogram_quantile":
		return dimOfName(n.Args[1].metrics()[0]), nil
	}
	return dim{}, fmt.Errorf("function %s", n.Func.Name)
}

func (n *node) binary() (dim, error) {
	l, err := n.LHS.dim()
	if err != nil {
		return l, err
	}
	r, err := n.RHS.dim()
	if err != nil {
		return r, err
	}
	number := n.LHS.Type == "numberLiteral" || n.RHS.Type == "numberLiteral"
	switch n.Op {
	case "*":
		return dim{l.bytes + r.bytes, l.seconds + r.seconds, l.joules + r.joules, l.celsius + r.celsius, l.volts + r.volts, l.share || r.share}, nil
	case "/":
		d := dim{l.bytes - r.bytes, l.seconds - r.seconds, l.joules - r.joules, l.celsius - r.celsius, l.volts - r.volts, false}
		d.share = d == dim{}
		return d, nil
	case "and", "unless":
		return l, nil
	case "or", "+", "-":
		if l != r && !number {
			return l, fmt.Errorf("%+v %s %+v", l, n.Op, r)
		}
		return l, nil
	case ">", "<", ">=", "<=", "==", "!=":
		if n.Bool {
			return dim{}, nil
		}
		return l, nil
	}
	return l, fmt.Errorf("operator %s", n.Op)
}
