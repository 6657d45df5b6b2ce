package sysfs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// firmwareNames are the files of fw_version, without "_fw_version", in the words of
// AMD's library where they differ.
var firmwareNames = map[string]string{
	"ce": "cp_ce", "me": "cp_me", "mec": "cp_mec1", "mec2": "cp_mec2", "pfp": "cp_pfp",
	"rlc_srlc": "rlc_restore_list_cntl", "rlc_srlg": "rlc_restore_list_gpm_mem", "rlc_srls": "rlc_restore_list_srm_mem",
	"sdma": "sdma0", "sdma2": "sdma1", "smc": "pm", "sos": "psp_sosdrv", "pldm": "pldm_bundle", "mes": "cp_mes",
}

// Versions that the vendor's tools show as bytes: in hexadecimal, or in decimal.
var (
	hexVersions     = []string{"psp_sosdrv", "ta_ras", "ta_xgmi", "uvd", "vce", "vcn", "pldm_bundle"}
	decimalVersions = []string{"pm"}
)

// Firmware implements smi.Source.
func (s *source) Firmware(ctx context.Context, index int) ([]smi.Firmware, error) {
	return ask(ctx, s, "firmware", index, slices.Clone[[]smi.Firmware], s.firmware)
}

func (s *source) firmware(c *card) ([]smi.Firmware, error) {
	names, err := c.list("fw_version")
	if err != nil {
		return nil, c.lost(err)
	}
	var fs []smi.Firmware
	for _, n := range names {
		name, ok := strings.CutSuffix(n, "_fw_version")
		if !ok || !identifier(name) {
			continue
		}
		v, err := c.number("fw_version/" + n)
		if err != nil || v == 0 || ones(v) { // 0: the card does not load it
			continue
		}
		if other := firmwareNames[name]; other != "" {
			name = other
		}
		fs = append(fs, smi.Firmware{Name: name, Version: firmwareVersion(name, v), Number: smi.Some(v)})
	}
	slices.SortFunc(fs, func(a, b smi.Firmware) int { return strings.Compare(a.Name, b.Name) })
	return fs, nil
}

func firmwareVersion(name string, v uint64) string {
	b := []any{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}
	switch {
	case v > 0xffffffff:
	case slices.Contains(hexVersions, name):
		return fmt.Sprintf("%02x.%02x.%02x.%02x", b...)
	case slices.Contains(decimalVersions, name):
		return fmt.Sprintf("%02d.%02d.%02d.%02d", b...)
	}
	return strconv.FormatUint(v, 10)
}
