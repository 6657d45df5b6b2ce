package smiabi

import (
	"math"
	"testing"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

func TestECC(t *testing.T) {
	c := opened(t, smitest.NewMachine(3, 0)).at(2)
	var e errorCount
	ok(t, amdsmiGetGPUTotalECCCount(c, &e))
	is(t, "total", e, errorCount{correctableCount: 6})
	ok(t, amdsmiGetGPUECCCount(c, AMDSMI_GPU_BLOCK_UMC, &e))
	is(t, "umc", e, errorCount{correctableCount: 6})
	ok(t, amdsmiGetGPUECCCount(c, AMDSMI_GPU_BLOCK_GFX, &e))
	is(t, "gfx", e, errorCount{})
	is(t, "a part without", amdsmiGetGPUECCCount(c, AMDSMI_GPU_BLOCK_FUSE, &e), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "a part without a name", amdsmiGetGPUECCCount(c, AMDSMI_GPU_BLOCK_UCIE_PCS, &e), AMDSMI_STATUS_NOT_SUPPORTED)
	for _, b := range []gpuBlock{0, 3, 1 << 39, AMDSMI_GPU_BLOCK_RESERVED} {
		is(t, "no part", amdsmiGetGPUECCCount(c, b, &e), AMDSMI_STATUS_INVAL)
	}
	var on uint64
	ok(t, amdsmiGetGPUECCEnabled(c, &on))
	is(t, "enabled", on, uint64(AMDSMI_GPU_BLOCK_UMC|AMDSMI_GPU_BLOCK_SDMA|AMDSMI_GPU_BLOCK_GFX|AMDSMI_GPU_BLOCK_MMHUB|AMDSMI_GPU_BLOCK_PCIE_BIF|AMDSMI_GPU_BLOCK_XGMI_WAFL))
	var s rasErrState
	ok(t, amdsmiGetGPUECCStatus(c, AMDSMI_GPU_BLOCK_UMC, &s))
	is(t, "state", s, AMDSMI_RAS_ERR_STATE_ENABLED)
	ok(t, amdsmiGetGPURASBlockFeaturesEnabled(c, AMDSMI_GPU_BLOCK_GFX, &s))
	is(t, "features", s, AMDSMI_RAS_ERR_STATE_ENABLED)
	var f rasFeature
	ok(t, amdsmiGetGPURASFeatureInfo(c, &f))
	is(t, "ras", f, rasFeature{rasEepromVersion: 0x20100, eccCorrectionSchemaFlag: 15, rasInfo: 4})
	var limit uint32
	ok(t, amdsmiGetGPUBadPageThreshold(c, &limit))
	is(t, "threshold", limit, 128)
}

// A card whose parts tell little, and one that tells nothing.
func TestECCOfLittle(t *testing.T) {
	l := opened(t, smitest.NewFake(
		smi.DeviceSnapshot{ECC: &smi.ECC{Poison: smi.Some(false), Blocks: []smi.ECCBlock{{Block: "gfx", State: smi.RASDisabled}, {Block: "df"}, {Block: "hdp", Deferred: smi.Some(uint64(1))}}}}, smi.DeviceSnapshot{}))
	c, none := l.at(0), l.at(1)
	var e errorCount
	var s rasErrState
	var on uint64
	var f rasFeature
	var limit uint32
	is(t, "total", amdsmiGetGPUTotalECCCount(c, &e), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "gfx", amdsmiGetGPUECCCount(c, AMDSMI_GPU_BLOCK_GFX, &e), AMDSMI_STATUS_NOT_SUPPORTED)
	ok(t, amdsmiGetGPUECCStatus(c, AMDSMI_GPU_BLOCK_GFX, &s))
	is(t, "disabled", s, AMDSMI_RAS_ERR_STATE_DISABLED)
	for _, b := range []gpuBlock{AMDSMI_GPU_BLOCK_DF, AMDSMI_GPU_BLOCK_UMC, AMDSMI_GPU_BLOCK_UCIE_PCS} {
		s = 0
		ok(t, amdsmiGetGPUECCStatus(c, b, &s))
		is(t, "not among the protected", s, AMDSMI_RAS_ERR_STATE_DISABLED)
	}
	is(t, "no part", amdsmiGetGPUECCStatus(c, 0, &s), AMDSMI_STATUS_INVAL)
	ok(t, amdsmiGetGPUECCEnabled(c, &on))
	is(t, "enabled", on, uint64(AMDSMI_GPU_BLOCK_HDP))
	ok(t, amdsmiGetGPURASFeatureInfo(c, &f))
	is(t, "ras", f, rasFeature{rasEepromVersion: math.MaxUint32})
	is(t, "threshold", amdsmiGetGPUBadPageThreshold(c, &limit), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "nothing: state", amdsmiGetGPUECCStatus(none, AMDSMI_GPU_BLOCK_UMC, &s), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "nothing: total", amdsmiGetGPUTotalECCCount(none, &e), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "nothing: enabled", amdsmiGetGPUECCEnabled(none, &on), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "nothing: ras", amdsmiGetGPURASFeatureInfo(none, &f), AMDSMI_STATUS_NOT_SUPPORTED)
}

func TestBadPages(t *testing.T) {
	l := opened(t, smitest.NewMachine(3, 0))
	c := l.at(2)
	n := uint32(77)
	ok(t, amdsmiGetGPUBadPageInfo(c, &n, nil))
	is(t, "pages", n, 2)
	buf := [3]retiredPageRecord{2: {pageAddress: 5}}
	n = 3
	ok(t, amdsmiGetGPUBadPageInfo(c, &n, &buf[0]))
	is(t, "pages", n, 2)
	is(t, "page", buf[0], retiredPageRecord{pageAddress: 0x1f_4000_0000, pageSize: 4096, status: AMDSMI_MEM_PAGE_STATUS_RESERVED})
	is(t, "page", buf[1].status, AMDSMI_MEM_PAGE_STATUS_PENDING)
	is(t, "beyond", buf[2].pageAddress, 5)
	buf[1].pageAddress, n = 7, 1
	is(t, "a small buffer", amdsmiGetGPUMemoryReservedPages(c, &n, &buf[0]), AMDSMI_STATUS_INSUFFICIENT_SIZE)
	is(t, "pages", n, 2)
	is(t, "beyond a small buffer", buf[1].pageAddress, 7)
	ok(t, amdsmiGetGPUBadPageInfo(l.at(0), &n, nil))
	is(t, "no pages", n, 0)
}
