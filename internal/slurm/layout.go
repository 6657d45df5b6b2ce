package slurm

import (
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"

	"github.com/rocwire/rocwire/smi"
)

// Card is a card of a worker, or a part of one.
type Card struct {
	Worker string `yaml:"worker"` // as in TF_WORKER_HOST: HOST, HOST:PORT or a name in the configuration file
	UUID   string `yaml:"card"`
	Type   string `yaml:"type"` // of Slurm's GRES, such as mi300x
	Part   `yaml:",inline"`
}

// Layout says which cards each node of Slurm has, by its name. Their order is the order of Slurm's numbers.
type Layout struct {
	Nodes map[string][]Card `yaml:"nodes"`
}

// Bounds of a layout.
const (
	maxLayout = 16 << 20
	maxCards  = 1024 // of a node
)

// DefaultCards is where the files are that stand for cards in gres.conf.
const DefaultCards = "/var/lib/rocwire/slurm"

var (
	nodeName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$`)
	typeName = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)
)

// ParseLayout reads a layout.
func ParseLayout(b []byte) (*Layout, error) {
	if len(b) > maxLayout {
		return nil, fmt.Errorf("longer than %d bytes", maxLayout)
	}
	l := new(Layout)
	if err := yaml.UnmarshalStrict(b, l); err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n", " "))
	}
	type owned struct {
		node string
		Part
	}
	owner := map[string]owned{}
	for node, cards := range l.Nodes {
		if !nodeName.MatchString(node) {
			return nil, fmt.Errorf("%q is no name of a node", node)
		}
		if len(cards) > maxCards {
			return nil, fmt.Errorf("node %s has more than %d cards", node, maxCards)
		}
		for i, c := range cards {
			switch other, twice := owner[c.Worker+"\x00"+c.UUID]; {
			case c.Worker == "" || c.UUID == "" || strings.ContainsAny(c.Worker+c.UUID, ", \n"):
				return nil, fmt.Errorf("node %s, card %d: a worker and the UUID of its card", node, i)
			case !typeName.MatchString(c.Type):
				return nil, fmt.Errorf("node %s, card %d: %q is no type: letters, digits and _", node, i, c.Type)
			case twice && (other.node == node || c.Memory == "" || other.Memory == ""):
				return nil, fmt.Errorf("card %s of %s belongs to %s and to %s: two jobs would have it at once", c.UUID, c.Worker, other.node, node)
			}
			if _, err := c.Quota(); err != nil {
				return nil, fmt.Errorf("node %s, card %d: %w", node, i, err)
			}
			if j := slices.IndexFunc(cards, func(o Card) bool { return o.Worker == c.Worker }); cards[j].Part != c.Part {
				return nil, fmt.Errorf("node %s, cards %d and %d: of one worker a node has the same part of each card: a job has one token there, and its quota is for each", node, j, i)
			}
			owner[c.Worker+"\x00"+c.UUID] = owned{node, c.Part}
		}
	}
	return l, nil
}

// Append appends the layout as ParseLayout reads it.
func (l *Layout) Append(b []byte) ([]byte, error) {
	out, err := yaml.Marshal(l)
	return append(b, out...), err
}

// Spread gives cards to nodes, in order, as evenly as possible.
func Spread(cards []Card, nodes []string) *Layout {
	l := &Layout{Nodes: map[string][]Card{}}
	for i, n := range nodes {
		l.Nodes[n] = append(l.Nodes[n], cards[i*len(cards)/len(nodes):(i+1)*len(cards)/len(nodes)]...)
	}
	return l
}

var productName = regexp.MustCompile(`(?i)\bmi[0-9]{2,3}[a-z]?\b`)

// TypeOf is a card's type for Slurm: of "AMD Instinct MI300X", mi300x; of others their instruction set, such as gfx942.
func TypeOf(d *smi.Device) string {
	if m := productName.FindString(d.Name); m != "" {
		return strings.ToLower(m)
	}
	target, _, _ := strings.Cut(d.Target, ":")
	if typeName.MatchString(target) {
		return target
	}
	return "gpu"
}

// File is the file that stands for a node's card in gres.conf, below dir. Its number is the card's on the node.
func File(dir, node string, i int) string { return path.Join(dir, node, fmt.Sprintf("card%d", i)) }

// GRES writes gres.conf for nodes, with what belongs into slurm.conf as comments.
func (l *Layout) GRES(w io.Writer, nodes []string, dir string) error {
	var b strings.Builder
	b.WriteString("# Cards of rocwire workers. Into slurm.conf belongs:\n#   GresTypes=gpu\n")
	for _, n := range nodes {
		var counts []string
		for _, r := range runs(l.Nodes[n]) {
			counts = append(counts, fmt.Sprintf("gpu:%s:%d", l.Nodes[n][r.first].Type, r.n))
		}
		if counts != nil {
			fmt.Fprintf(&b, "#   NodeName=%s … Gres=%s\n", n, strings.Join(counts, ","))
		}
	}
	for _, n := range nodes {
		for _, r := range runs(l.Nodes[n]) {
			file := File(dir, n, r.first)
			if r.n > 1 {
				file = strings.TrimSuffix(file, fmt.Sprint(r.first)) + fmt.Sprintf("[%d-%d]", r.first, r.first+r.n-1)
			}
			// With AMD's variable alone: the others would have other vendors' programs look for cards.
			fmt.Fprintf(&b, "NodeName=%s Name=gpu Type=%s File=%s Flags=amd_gpu_env\n", n, l.Nodes[n][r.first].Type, file)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// run are cards of one type that follow each other.
type run struct{ first, n int }

func runs(cards []Card) (list []run) {
	for i := range cards {
		if i == 0 || cards[i].Type != cards[i-1].Type {
			list = append(list, run{first: i})
		}
		list[len(list)-1].n++
	}
	return list
}
