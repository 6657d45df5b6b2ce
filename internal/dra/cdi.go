package dra

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	cdi "tags.cncf.io/container-device-interface/specs-go"

	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/wholefile"
)

// cdiKind is the vendor and class of the CDI devices.
const cdiKind = Driver + "/claim"

// libraryDir is where containers find the client library.
const libraryDir = "/usr/lib/rocwire"

// spec is the file that tells container runtimes of a claim.
func (n *Node) spec(uid types.UID) string {
	return filepath.Join(n.CDI, strings.ReplaceAll(cdiKind, "/", "-")+"-"+string(uid)+".json")
}

// cdiDevice is the name of a claim's i-th card, which is never used again.
func cdiDevice(uid types.UID, i int) string { return fmt.Sprintf("%s-%d", uid, i) }

// writeSpec tells container runtimes what a container with the claim is to have: the client library, the claim's folder, and the environment that has
// the library use them. It is the same for every card of a claim, so that it is edited in once.
func (n *Node) writeSpec(uid types.UID, c *checkpoint) error {
	visible := strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Visible), " ", ","), "[]")
	dir := n.folder(uid)
	s := cdi.Spec{Version: "0.6.0", Kind: cdiKind, ContainerEdits: cdi.ContainerEdits{
		Env: []string{
			"TF_WORKER_HOST=" + strings.Join(c.Hosts, ","), dialing.FileVariable + "=" + filepath.Join(dir, fileConfig), "HIP_VISIBLE_DEVICES=" + visible,
			"LD_LIBRARY_PATH=" + libraryDir,
		},
		Mounts: []*cdi.Mount{
			{HostPath: dir, ContainerPath: dir, Options: []string{"ro", "nosuid", "nodev", "bind"}},
			{HostPath: n.Library, ContainerPath: libraryDir, Options: []string{"ro", "nosuid", "nodev", "bind"}},
		},
	}}
	i := 0
	for _, g := range c.Grants {
		for _, card := range g.Token.Cards {
			s.Devices = append(s.Devices, cdi.Device{Name: cdiDevice(uid, i), ContainerEdits: cdi.ContainerEdits{Env: []string{fmt.Sprintf("ROCWIRE_CARD_%d=%s", i, card)}}})
			i++
		}
	}
	b, err := json.MarshalIndent(&s, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(n.CDI, 0o755); err != nil {
		return err
	}
	return wholefile.Write(n.spec(uid), append(b, '\n'), 0o644)
}
