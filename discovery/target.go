package discovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v2"
)

// Target is one worker.
type Target struct {
	Address string            // HOST:PORT, or unix:PATH
	Labels  map[string]string // what its source says of it, and its series are to have; not to be changed
}

// Name is what a person would call it, "" if its source does not say: the label name, its node in Kubernetes or Consul.
func (t *Target) Name() string {
	for _, l := range []string{"name", "__meta_kubernetes_pod_node_name", "__meta_kubernetes_pod_name", "__meta_consul_node"} {
		if v := t.Labels[l]; v != "" {
			return v
		}
	}
	return ""
}

// Node is the node of Kubernetes that it runs on, "" if its source does not say.
func (t *Target) Node() string { return t.Labels["__meta_kubernetes_pod_node_name"] }

// Group is what one source names together, as Prometheus writes it.
type Group struct {
	Targets []string          `json:"targets" yaml:"targets"`
	Labels  map[string]string `json:"labels,omitempty" yaml:"labels,omitempty"`
}

// Bounds of what one source may name: four times a hundred thousand cards, eight each, where an entry of Consul's catalog has some 900 bytes.
const (
	MaxBytes   = 32 << 20
	MaxTargets = 50_000

	maxLabels = 64
	maxValue  = 1024
)

// ErrFormat is the error of a document that is no list of target groups.
var ErrFormat = errors.New("no list of target groups")

// DefaultPort is the worker's, where a target does not name one.
const DefaultPort = "18515"

// ParseJSON reads a document of file_sd or http_sd: the targets that make sense, and
// how many do not.
func ParseJSON(b []byte) (targets []Target, bad int, err error) {
	return parse(b, json.Unmarshal)
}

// ParseYAML reads a document of file_sd.
func ParseYAML(b []byte) (targets []Target, bad int, err error) {
	return parse(b, yaml.UnmarshalStrict)
}

func parse(b []byte, unmarshal func([]byte, any) error) (targets []Target, bad int, err error) {
	if len(b) > MaxBytes {
		return nil, 0, fmt.Errorf("%w: more than %d bytes", ErrFormat, MaxBytes)
	}
	var groups []Group
	if err := unmarshal(b, &groups); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	var c collection
	for _, g := range groups {
		labels, dropped := cleanLabels(g.Labels)
		c.bad += dropped
		for _, t := range g.Targets {
			c.addClean(t, labels)
		}
	}
	return c.targets, c.bad, nil
}

// collection gathers the targets of one source: each address once, with the labels that it is first named with.
type collection struct {
	targets []Target
	bad     int
	seen    map[string]bool
}

// add adds a target with labels that are its own.
func (c *collection) add(address string, labels map[string]string) {
	labels, dropped := cleanLabels(labels)
	c.bad += dropped
	c.addClean(address, labels)
}

func (c *collection) addClean(address string, labels map[string]string) {
	addr, err := Normalize(address)
	if err != nil || len(c.targets) >= MaxTargets {
		c.bad++
		return
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	if !c.seen[addr] {
		c.seen[addr] = true
		c.targets = append(c.targets, Target{Address: addr, Labels: labels})
	}
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,127}$`)

// cleanLabels keeps the labels that are a target's own. Those that begin with two
// underscores tell Prometheus what to do, such as where to scrape, which is not for
// others to say; __meta_… are for its relabeling and are kept.
func cleanLabels(labels map[string]string) (kept map[string]string, bad int) {
	kept = make(map[string]string, len(labels))
	for k, v := range labels {
		reserved := strings.HasPrefix(k, "__") && !strings.HasPrefix(k, "__meta_")
		if reserved || !labelName.MatchString(k) || len(v) > maxValue || !utf8.ValidString(v) || len(kept) >= maxLabels {
			bad++
			continue
		}
		kept[k] = v
	}
	return kept, bad
}

var hostName = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?$`)

// Normalize gives a worker's address one form: HOST:PORT with the host in lower case,
// without a final dot, and DefaultPort if there is none; or unix:PATH.
func Normalize(s string) (string, error) {
	bad := fmt.Errorf("%.300q is no address of a worker like HOST:PORT", s)
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		if !strings.HasPrefix(path, "/") || len(path) > 107 || strings.ContainsRune(path, 0) {
			return "", bad
		}
		return s, nil
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		host, port = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"), DefaultPort
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", bad
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if ip := net.ParseIP(host); ip != nil {
		host = ip.String()
	} else if !hostName.MatchString(host) || strings.Contains(host, "..") {
		return "", bad
	}
	return net.JoinHostPort(host, strconv.FormatUint(n, 10)), nil
}
