package dra

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/types"

	"github.com/rocwire/rocwire/internal/wholefile"
	"github.com/rocwire/rocwire/smi"
)

// checkpoint is what a node knows of a claim. It is written before the first token is issued, so that a driver that dies in between can take all back.
type checkpoint struct {
	Name      string   `json:"name"`
	Namespace string   `json:"namespace"`
	Ready     bool     `json:"ready"` // everything that is in it is there
	Grants    []grant  `json:"grants"`
	Hosts     []string `json:"hosts"`   // of TF_WORKER_HOST: the workers' names in the claim's configuration file
	Visible   []int    `json:"visible"` // HIP's numbers of the claim's cards
}

// grant is what a claim has been given by one worker.
type grant struct {
	Pool    string    `json:"pool"`
	Devices []string  `json:"devices"`
	Token   smi.Token `json:"token"` // with its digest: the secret is in the claim's folder
}

// Files in a claim's folder.
const (
	fileCheckpoint = "claim.json"
	fileToken      = "token"
	fileConfig     = "config.yaml"
)

// folder is a claim's. It has the same path in the containers, so that what its files say of each other is true in both.
func (n *Node) folder(uid types.UID) string { return filepath.Join(n.Dir, "claims", string(uid)) }

// notes are where a claim's checkpoint is: outside of what its containers see.
func (n *Node) notes(uid types.UID) string {
	return filepath.Join(n.Dir, "notes", string(uid)+"-"+fileCheckpoint)
}

// load reads a checkpoint; nil if there is none.
func (n *Node) load(uid types.UID) (*checkpoint, error) {
	b, err := os.ReadFile(n.notes(uid))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := new(checkpoint)
	if err := json.Unmarshal(b, c); err != nil {
		return nil, fmt.Errorf("%s: %w", n.notes(uid), err)
	}
	return c, nil
}

func (n *Node) save(uid types.UID, c *checkpoint) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(n.notes(uid)), 0o700); err != nil {
		return err
	}
	return wholefile.Write(n.notes(uid), b, 0o600)
}

// forget removes all that there is of a claim, the checkpoint last.
func (n *Node) forget(uid types.UID) error {
	for _, path := range []string{n.spec(uid), n.folder(uid), n.notes(uid)} {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}
