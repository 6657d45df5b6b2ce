//go:build linux

package dra

import (
	"errors"
	"path/filepath"
	"testing"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/internal/dialing"
)

// TestClaimQuota: a claim for part of a card is one part, however many programs the claim's pods run, on whatever nodes; two claims for parts of one card are
// two.
func TestClaimQuota(t *testing.T) {
	c := newCluster(t)
	part := map[resourceapi.QualifiedName]string{"memory": "128Mi", "share": "25"}
	shared, other := c.claim(t, "shared", part, "w0/0"), c.claim(t, "other", part, "w0/0")
	one, two := c.node(), c.node()
	two.Dir, two.CDI = c.dir+"/plugin2", c.dir+"/cdi2"
	prepare := func(n *Node, claim *resourceapi.ResourceClaim) {
		t.Helper()
		got, err := n.PrepareResourceClaims(t.Context(), []*resourceapi.ResourceClaim{claim})
		if err = errors.Join(err, got[claim.UID].Err); err != nil {
			t.Fatal(err)
		}
	}
	prepare(one, shared)
	prepare(two, shared)
	prepare(one, other)
	program := func(n *Node, claim *resourceapi.ResourceClaim) *hipremote.Client {
		t.Helper()
		all := hipremote.AllFromEnv(func(k string) (string, bool) {
			if k != dialing.FileVariable {
				return "", false
			}
			return filepath.Dir(n.shareFolder(claim.UID, 0)), true
		})
		if len(all) != 1 {
			t.Fatalf("%d workers", len(all))
		}
		rt := hipremote.New(all[0])
		t.Cleanup(func() { _ = rt.Close() })
		return rt
	}
	card := hip.Thread{}
	first := program(one, shared)
	p, e := first.Malloc(card, 80<<20)
	if e != hip.Success {
		t.Fatal(e)
	}
	for what, rt := range map[string]*hipremote.Client{"of the same pod": program(one, shared), "of another pod on another node": program(two, shared)} {
		if free, total, e := rt.MemGetInfo(card); e != hip.Success || total != 128<<20 || free > 48<<20 {
			t.Errorf("a program %s: %d of %d bytes are free, %v", what, free, total, e)
		}
		if _, e := rt.Malloc(card, 80<<20); e != hip.ErrorOutOfMemory {
			t.Errorf("a program %s gets as much again: %v", what, e)
		}
	}
	if _, e := program(one, other).Malloc(card, 80<<20); e != hip.Success {
		t.Errorf("a program of another claim: %v", e)
	}
	// The claim ends on the first node, with what its programs hold, and goes on on the second.
	got, err := one.UnprepareResourceClaims(t.Context(), []kubeletplugin.NamespacedObject{{NamespacedName: types.NamespacedName{Namespace: shared.Namespace, Name: shared.Name}, UID: shared.UID}})
	if err = errors.Join(err, got[shared.UID]); err != nil {
		t.Fatal(err)
	}
	if e := first.Free(card, p); e == hip.Success {
		_, _, e = first.MemGetInfo(card)
		if e == hip.Success {
			t.Error("a program of the node where the claim has ended goes on")
		}
	}
	if _, e := program(two, shared).Malloc(card, 80<<20); e != hip.Success {
		t.Errorf("what those held is not there: %v", e)
	}
}
