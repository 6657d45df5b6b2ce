package dra

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/types"
	cdi "tags.cncf.io/container-device-interface/specs-go"

	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/wholefile"
)

// cdiKind is the vendor and class of the CDI devices.
const cdiKind = Driver + "/claim"

// Where containers find what claims need.
const (
	libraryDir = "/usr/lib/rocwire"
	claimsDir  = "/run/rocwire/claims" // a folder for each share of each claim
)

// shareName is that of a claim's i-th share: of its folder in containers and of its CDI device. The claim's uid is never used again.
func shareName(uid types.UID, i int) string { return fmt.Sprintf("%s-%02d", uid, i) }

// spec is the file that tells container runtimes of a share.
func (n *Node) spec(uid types.UID, i int) string {
	return filepath.Join(n.CDI, "rocwire.io-claim-"+shareName(uid, i)+".json")
}

// writeSpecs tells container runtimes what a container with a share is to have: its folder, and the client library with the environment that has it look
// there. The environment is the same for all shares, so that a container may have several.
func (n *Node) writeSpecs(uid types.UID, c *checkpoint) error {
	if err := os.MkdirAll(n.CDI, 0o755); err != nil {
		return err
	}
	options := []string{"ro", "nosuid", "nodev", "bind"}
	for i := range c.Grants {
		edits := cdi.ContainerEdits{
			Env:    []string{dialing.FileVariable + "=" + claimsDir},
			Mounts: []*cdi.Mount{{HostPath: n.shareFolder(uid, i), ContainerPath: filepath.Join(claimsDir, shareName(uid, i)), Options: options}},
		}
		if n.Library != "" {
			edits.Env = append(edits.Env, "LD_LIBRARY_PATH="+libraryDir)
			edits.Mounts = append(edits.Mounts, &cdi.Mount{HostPath: n.Library, ContainerPath: libraryDir, Options: options})
		}
		s := cdi.Spec{Version: "0.5.0", Kind: cdiKind, Devices: []cdi.Device{{Name: shareName(uid, i), ContainerEdits: edits}}}
		b, err := json.MarshalIndent(&s, "", "  ")
		if err != nil {
			return err
		}
		if err := wholefile.Write(n.spec(uid, i), append(b, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// removeSpecs has container runtimes forget a claim.
func (n *Node) removeSpecs(uid types.UID) error {
	list, err := filepath.Glob(filepath.Join(n.CDI, "rocwire.io-claim-"+string(uid)+"-[0-9][0-9].json"))
	for _, path := range list {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
