package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// rocmSMI runs Debian's rocm-smi, unmodified, which asks by the older interface, and
// compares what it says of each card with what smi-remote says. Then it asks for all that
// rocm-smi knows: nothing of it may fail.
func (a *amdSMI) rocmSMI(ctx context.Context) (r outcome) {
	m, err := a.machine(ctx)
	if err != nil {
		r.say("%v", err)
		return r
	}
	out, err := a.older(ctx, "--showid", "--showuniqueid", "--showbus", "--showmeminfo", "vram", "--showmaxpower", "--showproductname", "--showclocks", "--json")
	if err != nil {
		r.say("%v", err)
		return r
	}
	var cards map[string]map[string]string
	if err := json.Unmarshal([]byte(out), &cards); err != nil || len(cards) != len(m.info) {
		r.say("%d cards of %d, %v: %s", len(cards), len(m.info), err, tail(out, 200))
		return r
	}
	for i := range m.info {
		in, said := &m.info[i], cards[fmt.Sprintf("card%d", i)]
		for key, want := range map[string]string{
			"Device ID":                      fmt.Sprintf("0x%04x", in.ASIC.DeviceID.Or(0)),
			"PCI Bus":                        in.BDF.Or(smi.BDF{}).String(),
			"Unique ID":                      "0x" + strings.ToLower(strings.TrimPrefix(in.ASIC.Serial, "0x")),
			"Card Series":                    in.Name,
			"VRAM Total Memory (B)":          fmt.Sprint(uint64(in.VRAM.Size.Or(0))),
			"Max Graphics Package Power (W)": fmt.Sprintf("%.1f", float64(in.Limits.MaxPower.Or(0))),
			"sclk clock speed:":              fmt.Sprintf("(%.0fMhz)", mhz(smi.ClockGFX)(&m.metrics[i])),
			"sclk clock level:":              "S", // nothing runs: it is in deep sleep
			"mclk clock speed:":              fmt.Sprintf("(%.0fMhz)", mhz(smi.ClockMem)(&m.metrics[i])),
			"GFX Version":                    strings.SplitN(in.Target, ":", 2)[0],
		} {
			if got := said[key]; !strings.EqualFold(got, want) {
				r.say("card %d: %s is %q, smi-remote says %q", i, key, got, want)
			} else {
				r.agreed++
			}
		}
	}
	if out, err := a.older(ctx, "--showallinfo"); err != nil || !strings.Contains(out, "End of ROCm SMI Log") {
		r.say("--showallinfo: %v: %s", err, tail(out, 200))
	}
	return r
}

// older is one run of rocm-smi.
func (a *amdSMI) older(ctx context.Context, args ...string) (string, error) {
	lib, err := filepath.Abs(filepath.Join(a.o.lib, "librocm_smi64.so.1"))
	if err != nil {
		return "", err
	}
	return a.python(ctx, []string{"ROCM_SMI_LIB_PATH=" + lib}, nil, "usr/libexec/rocm_smi/rocm_smi.py", args...)
}
