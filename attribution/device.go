package attribution

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// deviceID is the name that a device plugin or a DRA driver has for a card or a part
// of one.
type deviceID struct {
	bdf       smi.Opt[smi.BDF]
	partition smi.Opt[uint32] // of the card at bdf
	render    smi.Opt[uint32] // /dev/dri/renderDN
}

// parseDeviceID reads the names that AMD's device plugin and DRA driver give out:
//
//	0000:c1:00.0          a card, or its first partition
//	0000:c1:00.0-slice-2  a share of a card, one of several containers'; also ::2
//	0000:c1:00.0-2        a partition of a card; also _2
//	amdgpu_xcp_7          a partition, by its platform device below sys
//	gpu-1-129             a card or partition, by its DRM nodes
func parseDeviceID(id, sys string) (deviceID, bool) {
	const bdfLen = len("0000:c1:00.0")
	if len(id) > maxName {
		return deviceID{}, false
	}
	if n, ok := strings.CutPrefix(id, "amdgpu_xcp_"); ok {
		if _, err := strconv.ParseUint(n, 10, 16); err != nil {
			return deviceID{}, false
		}
		return renderNode(filepath.Join(sys, "devices/platform", id, "drm"))
	}
	if nodes, ok := strings.CutPrefix(id, "gpu-"); ok {
		card, render, ok := strings.Cut(nodes, "-")
		_, err1 := strconv.ParseUint(card, 10, 16)
		n, err2 := strconv.ParseUint(render, 10, 16)
		return deviceID{render: smi.Some(uint32(n))}, ok && err1 == nil && err2 == nil
	}
	if len(id) < bdfLen {
		return deviceID{}, false
	}
	bdf, err := smi.ParseBDF(id[:bdfLen])
	if err != nil {
		return deviceID{}, false
	}
	d := deviceID{bdf: smi.Some(bdf)}
	rest := id[bdfLen:]
	if rest == "" {
		return d, true
	}
	for _, share := range []string{"-slice-", "::"} {
		if n, ok := strings.CutPrefix(rest, share); ok {
			_, err := strconv.ParseUint(n, 10, 16)
			return d, err == nil
		}
	}
	n, err := strconv.ParseUint(rest[1:], 10, 16)
	d.partition = smi.Some(uint32(n))
	return d, err == nil && (rest[0] == '-' || rest[0] == '_')
}

// renderNode is the render node in a folder of DRM nodes.
func renderNode(dir string) (deviceID, bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return deviceID{}, false
	}
	for _, e := range entries {
		if s, ok := strings.CutPrefix(e.Name(), "renderD"); ok {
			n, err := strconv.ParseUint(s, 10, 16)
			return deviceID{render: smi.Some(uint32(n))}, err == nil
		}
	}
	return deviceID{}, false
}

// is says whether d names the card. Without a partition it is the whole card or the
// first of its partitions; the others have names of their own.
func (d deviceID) is(c smi.Device, ids smi.IDs) bool {
	if r, ok := d.render.Get(); ok {
		return ids.DRMRender.Ok() && ids.DRMRender.Or(0) == r
	}
	b, ok := c.BDF.Get()
	return ok && b == d.bdf.Or(smi.BDF{}) && (!ids.Partition.Ok() || ids.Partition.Or(0) == d.partition.Or(0))
}

// cards are the source's cards with the numbers other software knows them by. They
// are asked for in the background only.
type cards struct {
	src smi.Source
	ids map[int]smi.IDs // by index, of cards that have told
	at  time.Time       // when the first of them did
}

// cardsKeep is how long the numbers of a card count; they change with its partitions.
const cardsKeep = time.Minute

// find is the indices of the cards that each of ids names.
func (c *cards) find(ctx context.Context, ids []deviceID) ([][]int, error) {
	devices, err := c.src.Devices(ctx)
	if err != nil {
		return nil, err
	}
	if time.Since(c.at) > cardsKeep {
		c.ids, c.at = map[int]smi.IDs{}, time.Now()
	}
	found := make([][]int, len(ids))
	for _, d := range devices {
		known, ok := c.ids[d.Index]
		if !ok {
			info, err := c.src.Info(ctx, d.Index)
			if err == nil && info != nil {
				known = info.IDs
				c.ids[d.Index] = known
			}
		}
		for i := range ids {
			if ids[i].is(d, known) {
				found[i] = append(found[i], d.Index)
			}
		}
	}
	return found, nil
}
