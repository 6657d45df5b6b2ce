package smiabi

import "testing"

func TestASICInfo(t *testing.T) {
	c, _ := faked(t)
	var info asicInfo
	ok(t, amdsmiGetGPUASICInfo(c.at(0), &info))
	if got := text(info.marketName[:]); got != "AMD Instinct MI300X" {
		t.Errorf("market name %q", got)
	}
	if info.deviceID != 0x74a1 || info.numOfComputeUnits != 304 {
		t.Errorf("device %#x with %d compute units", info.deviceID, info.numOfComputeUnits)
	}
}
