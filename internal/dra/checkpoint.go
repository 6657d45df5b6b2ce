package dra

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/rocwire/rocwire/internal/wholefile"
	"github.com/rocwire/rocwire/smi"
)

// checkpoint is what a node knows of a claim. It is written before the first token is issued, so that a driver that dies in between can take all back.
type checkpoint struct {
	UID       types.UID `json:"uid"`
	Name      string    `json:"name"`
	Namespace string    `json:"namespace"`
	Ready     bool      `json:"ready"` // everything that is in it is there
	Grants    []grant   `json:"grants"`
}

// grant is what a share of a claim has been given by its worker.
type grant struct {
	Pool    string    `json:"pool"`
	Request string    `json:"request"`
	Devices []string  `json:"devices"`
	Token   smi.Token `json:"token"` // with its digest: the secret is in the share's folder
}

// Files in a share's folder.
const (
	fileToken  = "token"
	fileConfig = "config.yaml"
	fileCA     = "ca.crt"
)

// noteEnd is how the name of a checkpoint ends.
const noteEnd = "-claim.json"

// folder is where a claim's shares have theirs.
func (n *Node) folder(uid types.UID) string { return filepath.Join(n.Dir, "claims", string(uid)) }

// shareFolder is what containers with a share see.
func (n *Node) shareFolder(uid types.UID, i int) string {
	return filepath.Join(n.folder(uid), strconv.Itoa(i))
}

// notes are where a claim's checkpoint is: outside of what its containers see.
func (n *Node) notes(uid types.UID) string { return filepath.Join(n.Dir, "notes", string(uid)+noteEnd) }

// load reads a checkpoint; nil if there is none.
func (n *Node) load(uid types.UID) (*checkpoint, error) {
	c := new(checkpoint)
	there, err := readNote(n.notes(uid), c)
	if !there || err != nil {
		return nil, err
	}
	return c, nil
}

func (n *Node) save(c *checkpoint) error { return writeNote(n.notes(c.UID), c) }

// claims are those that there are checkpoints of.
func (n *Node) claims() (list []types.UID, err error) {
	entries, err := os.ReadDir(filepath.Join(n.Dir, "notes"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if uid, ok := strings.CutSuffix(e.Name(), noteEnd); ok {
			list = append(list, types.UID(uid))
		}
	}
	return list, nil
}

// forget removes all that there is of a claim, the checkpoint last.
func (n *Node) forget(uid types.UID) error {
	if err := n.removeSpecs(uid); err != nil {
		return err
	}
	for _, path := range []string{n.folder(uid), n.notes(uid)} {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// readNote reads what writeNote wrote, if it is there.
func readNote(path string, v any) (there bool, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return true, nil
}

// writeNote keeps something over a restart, for nobody else.
func writeNote(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return wholefile.Write(path, b, 0o600)
}
