package smiabi

import (
	"fmt"
	"math"
	"testing"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// divided is the library over one card that is divided like this.
func divided(t *testing.T, p *smi.Partitions, part smi.Opt[uint32]) card {
	t.Helper()
	f := smitest.NewFake(smi.DeviceSnapshot{Info: &smi.Info{IDs: smi.IDs{Partition: part}}})
	f.SetDetails(smitest.Detail{Partitions: p})
	return opened(t, f).at(0)
}

func TestPartitions(t *testing.T) {
	p := *smitest.Details(1)[0].Partitions
	p.Compute = "QPX"
	c := divided(t, &p, smi.Some(uint32(3)))
	var buf [8]byte
	ok(t, amdsmiGetGPUComputePartition(c, &buf[0], 8))
	is(t, "compute", text(buf[:]), "QPX")
	ok(t, amdsmiGetGPUMemoryPartition(c, &buf[0], 8))
	is(t, "memory", text(buf[:]), "NPS1")
	copy(buf[:], "zzzzzzzz")
	is(t, "a small buffer", amdsmiGetGPUMemoryPartition(c, &buf[0], 4), AMDSMI_STATUS_INSUFFICIENT_SIZE)
	is(t, "what fits", string(buf[:]), "NPS\x00zzzz")
	is(t, "no buffer", amdsmiGetGPUComputePartition(c, &buf[0], 0), AMDSMI_STATUS_INVAL)

	var m memoryPartitionConfig
	ok(t, amdsmiGetGPUMemoryPartitionConfig(c, &m))
	is(t, "memory", m, memoryPartitionConfig{partitionCaps: 1 | 2 | 4, mpMode: AMDSMI_MEMORY_PARTITION_NPS1})

	var f acceleratorPartitionProfile
	var ids [8]uint32
	ok(t, amdsmiGetGPUAcceleratorPartitionProfile(c, &f, &ids[0]))
	is(t, "part", ids[0], 3)
	is(t, "type", f.profileType, AMDSMI_ACCELERATOR_PARTITION_QPX)
	is(t, "number", [4]uint32{f.numPartitions, f.profileIndex, f.numResources, uint32(f.memoryCaps)}, [4]uint32{4, 2, 4, 1})
	is(t, "resources of a part", [4]uint32(f.resources[3][:4]), [4]uint32{8, 9, 10, 11})
	is(t, "resources of no part", [4]uint32(f.resources[4][:4]), [4]uint32{})

	var a acceleratorPartitionProfileConfig
	ok(t, amdsmiGetGPUAcceleratorPartitionProfileConfig(c, &a))
	is(t, "profiles", [3]uint32{a.numProfiles, a.numResourceProfiles, a.defaultProfileIndex}, [3]uint32{4, 4, 0})
	is(t, "in force", a.profiles[2], f)
	is(t, "a resource", a.resourceProfiles[13], acceleratorPartitionResourceProfile{
		profileIndex: 13, resourceType: AMDSMI_ACCELERATOR_DECODER, partitionResource: 1, numPartitionsShareResource: 2,
	})
}

// More profiles and resources than the table holds, and none at all.
func TestManyPartitions(t *testing.T) {
	var p smi.Partitions
	for i := range 40 {
		f := smi.PartitionProfile{Index: i, Type: fmt.Sprint(i), Partitions: 1 << 40}
		for range i {
			f.Resources = append(f.Resources, smi.PartitionResource{Kind: "NPU", Count: -1})
		}
		p.Profiles = append(p.Profiles, f)
	}
	c := divided(t, &p, smi.Opt[uint32]{})
	var a acceleratorPartitionProfileConfig
	ok(t, amdsmiGetGPUAcceleratorPartitionProfileConfig(c, &a))
	is(t, "profiles", [2]uint32{a.numProfiles, a.numResourceProfiles}, [2]uint32{32, 0})
	p.Profiles = p.Profiles[30:33]
	c = divided(t, &p, smi.Opt[uint32]{})
	ok(t, amdsmiGetGPUAcceleratorPartitionProfileConfig(c, &a))
	is(t, "profiles", [2]uint32{a.numProfiles, a.numResourceProfiles}, [2]uint32{3, 10})
	is(t, "an unknown kind", a.resourceProfiles[29].resourceType, AMDSMI_ACCELERATOR_MAX)
	is(t, "too many parts", a.profiles[0].numPartitions, math.MaxUint32-1)

	var f acceleratorPartitionProfile
	ids := [8]uint32{0: 9}
	is(t, "no profile in force", amdsmiGetGPUAcceleratorPartitionProfile(c, &f, &ids[0]), AMDSMI_STATUS_NOT_SUPPORTED)
	c = divided(t, &smi.Partitions{Compute: "SPX"}, smi.Opt[uint32]{})
	ok(t, amdsmiGetGPUAcceleratorPartitionProfile(c, &f, &ids[0]))
	is(t, "known by name", f, acceleratorPartitionProfile{profileType: AMDSMI_ACCELERATOR_PARTITION_SPX})
	is(t, "no profiles", amdsmiGetGPUAcceleratorPartitionProfileConfig(c, &a), AMDSMI_STATUS_NOT_SUPPORTED)
	var b byte
	is(t, "memory not known", amdsmiGetGPUMemoryPartition(c, &b, 1), AMDSMI_STATUS_NOT_SUPPORTED)
	var m memoryPartitionConfig
	is(t, "memory not known", amdsmiGetGPUMemoryPartitionConfig(c, &m), AMDSMI_STATUS_NOT_SUPPORTED)

	c = divided(t, nil, smi.Some(uint32(2)))
	is(t, "not divisible", amdsmiGetGPUAcceleratorPartitionProfile(c, &f, &ids[0]), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "its part", ids[0], 2)
}

func TestTopology(t *testing.T) {
	src := smitest.NewFake(make([]smi.DeviceSnapshot, 4)...)
	src.SetTopology(&smi.Topology{Paths: []smi.Path{
		{From: 0, To: 1, Type: smi.LinkXGMI, Weight: smi.Some(uint64(15)), Hops: smi.Some(uint64(1)), Access: smi.Some(true), Coherent: smi.Some(true), DMA: smi.Some(false),
			MinBandwidth: smi.Some(smi.BytesPerSecond(50e9)), MaxBandwidth: smi.Some(smi.BytesPerSecond(64e9))},
		{From: 0, To: 2, Type: smi.LinkPCIe, Access: smi.Some(false)},
		{From: 0, To: 3, Type: smi.LinkXGMI, Weight: smi.Some(uint64(10))},
		{From: 0, To: 9, Type: smi.LinkXGMI},
		{From: 1, To: 0},
	}})
	l := opened(t, src)
	var hops, a, b uint64
	var typ linkType
	var may bool
	ok(t, amdsmiTopoGetLinkType(l.at(0), l.at(1), &hops, &typ))
	is(t, "link", [2]uint64{hops, uint64(typ)}, [2]uint64{1, uint64(AMDSMI_LINK_TYPE_XGMI)})
	ok(t, amdsmiTopoGetLinkType(l.at(0), l.at(2), &hops, &typ))
	is(t, "hops not known", [2]uint64{hops, uint64(typ)}, [2]uint64{math.MaxUint64, uint64(AMDSMI_LINK_TYPE_PCIE)})
	ok(t, amdsmiTopoGetLinkType(l.at(2), l.at(2), &hops, &typ))
	is(t, "itself", [2]uint64{hops, uint64(typ)}, [2]uint64{0, uint64(AMDSMI_LINK_TYPE_INTERNAL)})
	is(t, "nothing known", amdsmiTopoGetLinkType(l.at(1), l.at(0), &hops, &typ), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "no way", amdsmiTopoGetLinkType(l.at(2), l.at(0), &hops, &typ), AMDSMI_STATUS_NOT_SUPPORTED)
	ok(t, amdsmiTopoGetLinkWeight(l.at(0), l.at(1), &a))
	is(t, "weight", a, 15)
	ok(t, amdsmiTopoGetLinkWeight(l.at(1), l.at(1), &a))
	is(t, "own weight", a, 0)
	is(t, "weight not known", amdsmiTopoGetLinkWeight(l.at(0), l.at(2), &a), AMDSMI_STATUS_NOT_SUPPORTED)
	var p p2pCapability
	ok(t, amdsmiTopoGetP2PStatus(l.at(0), l.at(1), &typ, &p))
	is(t, "p2p", p, p2pCapability{1, 0xff, 0xff, 0, 0xff})
	ok(t, amdsmiTopoGetP2PStatus(l.at(0), l.at(1), nil, nil))
	ok(t, amdsmiIsP2PAccessible(l.at(0), l.at(1), &may))
	is(t, "access", may, true)
	ok(t, amdsmiIsP2PAccessible(l.at(0), l.at(2), &may))
	is(t, "no access", may, false)
	ok(t, amdsmiIsP2PAccessible(l.at(3), l.at(3), &may))
	is(t, "own access", may, true)
	is(t, "access not known", amdsmiIsP2PAccessible(l.at(0), l.at(3), &may), AMDSMI_STATUS_NOT_SUPPORTED)
	ok(t, amdsmiGetMinmaxBandwidthBetweenProcessors(l.at(0), l.at(1), &a, &b))
	is(t, "bandwidth", [2]uint64{a, b}, [2]uint64{50000, 64000})
	is(t, "no bandwidth", amdsmiGetMinmaxBandwidthBetweenProcessors(l.at(0), l.at(2), &a, &b), AMDSMI_STATUS_NOT_SUPPORTED)
	var near topologyNearest
	ok(t, amdsmiGetLinkTopologyNearest(l.at(0), AMDSMI_LINK_TYPE_XGMI, &near))
	want := topologyNearest{count: 2}
	want.processorList[0], want.processorList[1] = processorHandle(3), processorHandle(1)
	is(t, "nearest", near, want)
	is(t, "nearest network card", amdsmiGetLinkTopologyNearest(l.at(0), AMDSMI_LINK_TYPE_XNUMA, &near), AMDSMI_STATUS_NOT_SUPPORTED)
	ok(t, amdsmiGetLinkTopologyNearest(l.at(3), AMDSMI_LINK_TYPE_PCIE, &near))
	is(t, "none", near, topologyNearest{})
}

func TestXGMI(t *testing.T) {
	src := smitest.NewFake(make([]smi.DeviceSnapshot, 3)...)
	peer := smi.BDF{Bus: 0x22}
	many := &smi.XGMI{Errors: smi.XGMIMultipleErrors}
	for range 70 {
		many.Links = append(many.Links, smi.XGMILink{State: smi.LinkUp})
	}
	src.SetDetails(smitest.Detail{XGMI: &smi.XGMI{
		Hive: smi.Some(uint64(0xabc)), Lanes: smi.Some(16), Errors: smi.XGMINoErrors,
		Links: []smi.XGMILink{
			{Peer: smi.Some(peer), State: smi.LinkUp, Rate: smi.Some(smi.BitsPerSecond(32e9)), MaxBandwidth: smi.Some(smi.BitsPerSecond(512e9)), Read: smi.Some(smi.MiB(1)), Written: smi.Some(smi.MiB(2))},
			{State: smi.LinkDown}, {State: smi.LinkDisabled},
		},
	}}, smitest.Detail{XGMI: many})
	l := opened(t, src)
	c := l.at(0)
	var i xgmiInfo
	ok(t, amdsmiGetXGMIInfo(c, &i))
	is(t, "info", i, xgmiInfo{xgmiLanes: 16, xgmiHiveID: 0xabc, xgmiNodeID: math.MaxUint64})
	is(t, "no info", amdsmiGetXGMIInfo(l.at(1), &i), AMDSMI_STATUS_NOT_SUPPORTED)
	var m linkMetrics
	ok(t, amdsmiGetLinkMetrics(c, &m))
	is(t, "links", m.numLinks, 3)
	is(t, "link", m.links[0], linkMetricsLinks{bdf: 0x2200, bitRate: 32, maxBandwidth: 512, linkType: AMDSMI_LINK_TYPE_XGMI, read: 1024, write: 2048})
	is(t, "link down", m.links[1].linkStatus, AMDSMI_LINK_STATUS_INACTIVE)
	is(t, "no rate", m.links[1].bitRate, math.MaxUint32)
	is(t, "no link", m.links[3], linkMetricsLinks{bitRate: math.MaxUint32, maxBandwidth: math.MaxUint32, linkType: AMDSMI_LINK_TYPE_UNKNOWN, linkStatus: AMDSMI_LINK_STATUS_DISABLED})
	ok(t, amdsmiGetLinkMetrics(l.at(1), &m))
	is(t, "many links", m.numLinks, 64)
	var s xgmiLinkStatus
	ok(t, amdsmiGetGPUXGMILinkStatus(c, &s))
	is(t, "states", [4]xgmiLinkStatusType(s.status[:4]), [4]xgmiLinkStatusType{AMDSMI_XGMI_LINK_UP, AMDSMI_XGMI_LINK_DOWN, AMDSMI_XGMI_LINK_DISABLE, AMDSMI_XGMI_LINK_DISABLE})
	is(t, "links", s.totalLinks, 3)
	ok(t, amdsmiGetGPUXGMILinkStatus(l.at(1), &s))
	is(t, "many links", s.totalLinks, 8)
	var e xgmiStatus
	ok(t, amdsmiGPUXGMIErrorStatus(c, &e))
	is(t, "errors", e, AMDSMI_XGMI_STATUS_NO_ERRORS)
	ok(t, amdsmiGPUXGMIErrorStatus(l.at(1), &e))
	is(t, "errors", e, AMDSMI_XGMI_STATUS_MULTIPLE_ERRORS)
	is(t, "no links", amdsmiGetLinkMetrics(l.at(2), &m), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "no links", amdsmiGetGPUXGMILinkStatus(l.at(2), &s), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "no links", amdsmiGPUXGMIErrorStatus(l.at(2), &e), AMDSMI_STATUS_NOT_SUPPORTED)
}
