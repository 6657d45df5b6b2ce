package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rocwire/rocwire/internal/tensorfusion"
	"github.com/rocwire/rocwire/internal/wholefile"
)

// stateVariable names the file of the ledger; "none" is without one.
const stateVariable = "ROCWIRE_ACCELERATOR_STATE"

// stateFolder is the folder of the node that TensorFusion gives its agent: it outlives the
// agent's container and ends with the machine, as the division of a card does.
const stateFolder = "/run/tensor-fusion"

// stateFile is where the ledger is kept, "" if nowhere.
func stateFile(getenv func(string) string) string {
	switch f := getenv(stateVariable); f {
	case "none":
		return ""
	case "":
	default:
		return f
	}
	if st, err := os.Stat(stateFolder); err != nil || !st.IsDir() {
		return ""
	}
	return filepath.Join(stateFolder, "rocwire-partitions.json")
}

// maxState is the size of a file that is read, in bytes.
const maxState = 1 << 20

// state is the file: {"version":1,"parts":[{"uuid":…,"card":…,"mode":"CPX","part":3}],"before":{CARD:"SPX"}}.
type state struct {
	Version int               `json:"version"`
	Parts   []statePart       `json:"parts"`
	Before  map[string]string `json:"before"`
}

type statePart struct {
	UUID string `json:"uuid"`
	Card string `json:"card"`
	Mode string `json:"mode"`
	Part int    `json:"part"`
}

// decodeState reads a file's bytes. What cannot be is left out: the file lies where others
// of the node's agents write.
func decodeState(b []byte) (list []assignment, before map[string]string, err error) {
	var s state
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, nil, err
	}
	if s.Version != 1 {
		return nil, nil, fmt.Errorf("version %d", s.Version)
	}
	isMode := func(m string) bool {
		known, memory, ok := template(m)
		return ok && memory == "" && known == m
	}
	isCard := func(c string) bool { return c != "" && tensorfusion.Name(c) == c }
	taken := map[string]bool{}
	for _, p := range s.Parts {
		a := assignment{uuid: p.UUID, card: p.Card, mode: p.Mode, part: p.Part, inherited: true}
		if !isCard(a.card) || !isMode(a.mode) || a.part < 0 || a.part >= maxParts || a.uuid != a.name() || taken[fmt.Sprint(a.card, a.part)] {
			continue
		}
		taken[fmt.Sprint(a.card, a.part)] = true
		list = append(list, a)
	}
	before = map[string]string{}
	for c, m := range s.Before {
		if isCard(c) && isMode(m) {
			before[c] = m
		}
	}
	return list, before, nil
}

// name is the UUID of a partition.
func (a *assignment) name() string {
	return fmt.Sprintf("%s-%s-%d", a.card, strings.ToLower(a.mode), a.part)
}

// load reads the file, once.
func (g *ledger) load() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.loaded || g.file == "" {
		return
	}
	g.loaded = true
	f, err := os.Open(g.file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var b []byte
	if err == nil {
		b, err = io.ReadAll(io.LimitReader(f, maxState))
		_ = f.Close() // it was only read
	}
	if err == nil {
		g.list, g.before, err = decodeState(b)
	}
	if err != nil {
		g.log.Warn("which partitions were assigned before is not known", "file", g.file, "error", err)
		return
	}
	if len(g.list) > 0 {
		g.log.Info("partitions that were assigned before", "partitions", len(g.list))
	}
}

// save writes the file; with mu. A host without it goes on: it cannot take back then what it
// has assigned when it is started anew.
func (g *ledger) save() {
	if g.file == "" {
		return
	}
	s := state{Version: 1, Parts: []statePart{}, Before: g.before}
	for _, a := range g.list {
		s.Parts = append(s.Parts, statePart{a.uuid, a.card, a.mode, a.part})
	}
	b, err := json.Marshal(s)
	if err == nil {
		err = wholefile.Write(g.file, b, 0o600)
	}
	if err != nil {
		g.log.Warn("which partitions are assigned cannot be kept for the next start", "file", g.file, "error", err)
	}
}
