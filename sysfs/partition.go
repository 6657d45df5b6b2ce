package sysfs

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// Partitions implements smi.Source.
func (s *source) Partitions(ctx context.Context, index int) (*smi.Partitions, error) {
	return ask(ctx, s, "partitions", index, (*smi.Partitions).Clone, s.partitions)
}

func (s *source) partitions(c *card) (*smi.Partitions, error) {
	compute, err := c.text("current_compute_partition")
	if err != nil {
		if lost := c.lost(err); smi.CodeOf(lost) != smi.ErrNotSupported {
			return nil, lost
		}
	}
	p := &smi.Partitions{Compute: partitionName(compute), Memory: partitionName(c.line("current_memory_partition"))}
	if p.Compute == "" && p.Memory == "" {
		return nil, smi.Errorf(smi.ErrNotSupported, "GPU %d cannot be divided", c.Index)
	}
	p.Memories = names(c.line("available_memory_partition"))
	types := names(c.line("available_compute_partition"))
	if len(types) == 0 {
		types = names(c.line("compute_partition_config/supported_xcp_configs"))
	}
	dies := 0
	top := s.kfd.read()
	nodes := top.gpus(c.BDF.Or(smi.BDF{}))
	p.Parts = top.parts(nodes)
	for _, n := range nodes {
		if v := n.props["num_xcc"]; v < 64 {
			dies += int(v)
		}
	}
	// The driver describes one way at a time: the one that was written to xcp_config,
	// at first the current one.
	shown := partitionName(c.line("compute_partition_config/xcp_config"))
	for i, t := range types {
		pr := smi.PartitionProfile{Index: i, Type: t, Partitions: partitionCount(t, dies)}
		if t == shown {
			pr.Memories = names(c.line("compute_partition_config/supported_nps_configs"))
			pr.Resources = c.resources()
		}
		p.Profiles = append(p.Profiles, pr)
	}
	return p, nil
}

// parts are the numbers of a divided card's parts; the kernel numbers them by the
// function of their address.
func (top *topology) parts(nodes []*node) (list []smi.Part) {
	if len(nodes) < 2 {
		return nil
	}
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b *node) int { return cmp.Compare(a.bdf().Function, b.bdf().Function) })
	for _, n := range nodes {
		p := smi.Part{KFD: smi.Some(n.gpuID), KFDNode: smi.Some(n.number), HIP: smi.Some(top.hipNumber(n))}
		if r := n.props["drm_render_minor"]; r > 0 && r < 1<<20 {
			p.DRMRender = smi.Some(uint32(r))
		}
		list = append(list, p)
	}
	return list
}

// partitionName takes the names that the kernel has: SPX, CPX, NPS4, ….
func partitionName(s string) string {
	s = strings.TrimSpace(s)
	if len(s) < 3 || len(s) > 8 || strings.ContainsFunc(s, func(r rune) bool { return !('A' <= r && r <= 'Z' || '0' <= r && r <= '9') }) || s == "UNKNOWN" {
		return ""
	}
	return s
}

func names(s string) (list []string) {
	for _, w := range words(s) {
		if n := partitionName(w); n != "" && !slices.Contains(list, n) && len(list) < 16 {
			list = append(list, n)
		}
	}
	return list
}

// partitionCount is into how many parts a way divides a card; CPX makes one of each
// die. 0 is not known.
func partitionCount(t string, dies int) int {
	switch t {
	case "SPX":
		return 1
	case "DPX":
		return 2
	case "TPX":
		return 3
	case "QPX":
		return 4
	case "CPX":
		return dies
	}
	return 0
}

// partitionResources are the directories of compute_partition_config and what is
// counted in them.
var partitionResources = []struct{ dir, kind string }{
	{"xcc", "XCC"}, {"enc", "ENCODER"}, {"dec", "DECODER"}, {"dma", "DMA"}, {"jpeg", "JPEG"},
}

func (c *card) resources() (rs []smi.PartitionResource) {
	for _, r := range partitionResources {
		dir := "compute_partition_config/" + r.dir
		n, err1 := c.number(dir + "/num_inst")
		shared, err2 := c.number(dir + "/num_shared")
		if err1 == nil && err2 == nil && n < 1024 && shared < 1024 {
			rs = append(rs, smi.PartitionResource{Kind: r.kind, Count: int(n), SharedBy: int(shared)})
		}
	}
	return rs
}
