package sysfs

import (
	"strconv"
	"strings"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// client is one DRM client, as /proc/PID/fdinfo/FD shows it in the form that the
// kernel describes in drm-usage-stats. Several descriptors, of several processes
// even, may show the same one.
type client struct {
	id    uint64
	pci   smi.BDF
	vram  smi.Opt[smi.Bytes]
	gtt   smi.Opt[smi.Bytes]
	cpu   smi.Opt[smi.Bytes]
	gfx   smi.Opt[smi.Duration]
	media smi.Opt[smi.Duration] // encoders
}

// parseClient reads an fdinfo file. It is not a client of amdgpu, or not one whose
// card and number are known, if ok is false.
func parseClient(s string) (c client, ok bool) {
	var driver string
	var havePCI, haveID bool
	var resident [3]smi.Opt[smi.Bytes]
	for line := range strings.Lines(s) {
		key, val, found := strings.Cut(line, ":")
		if !found {
			continue
		}
		val = strings.TrimSpace(val)
		switch key {
		case "drm-driver":
			driver = val
		case "drm-pdev":
			if bdf, err := smi.ParseBDF(val); err == nil {
				c.pci, havePCI = bdf, true
			}
		case "drm-client-id":
			if v, err := strconv.ParseUint(val, 10, 64); err == nil {
				c.id, haveID = v, true
			}
		case "drm-memory-vram":
			c.vram = amount(val)
		case "drm-memory-gtt":
			c.gtt = amount(val)
		case "drm-memory-cpu":
			c.cpu = amount(val)
		case "drm-resident-vram":
			resident[0] = amount(val)
		case "drm-resident-gtt":
			resident[1] = amount(val)
		case "drm-resident-cpu":
			resident[2] = amount(val)
		case "drm-engine-gfx", "drm-engine-compute":
			addEngine(&c.gfx, val)
		default:
			if strings.HasPrefix(key, "drm-engine-enc") {
				addEngine(&c.media, val)
			}
		}
	}
	// Newer kernels have drm-resident-* instead.
	for i, m := range []*smi.Opt[smi.Bytes]{&c.vram, &c.gtt, &c.cpu} {
		if !m.Ok() {
			*m = resident[i]
		}
	}
	return c, driver == "amdgpu" && havePCI && haveID
}

// amount reads "123 KiB"; without a unit it is bytes.
func amount(s string) smi.Opt[smi.Bytes] {
	f := strings.Fields(s)
	if len(f) == 0 || len(f) > 2 {
		return smi.None[smi.Bytes]()
	}
	v, err := strconv.ParseUint(f[0], 10, 64)
	if err != nil || v >= 1<<56 {
		return smi.None[smi.Bytes]()
	}
	shift := 0
	if len(f) == 2 {
		switch f[1] {
		case "KiB":
			shift = 10
		case "MiB":
			shift = 20
		default:
			return smi.None[smi.Bytes]()
		}
	}
	if v >= 1<<(56-shift) {
		return smi.None[smi.Bytes]()
	}
	return memory(v << shift)
}

// addEngine adds a time of the form "123 ns".
func addEngine(sum *smi.Opt[smi.Duration], s string) {
	n, ok := strings.CutSuffix(s, " ns")
	if !ok {
		return
	}
	if v, err := strconv.ParseUint(n, 10, 64); err == nil {
		addTime(sum, v, time.Nanosecond)
	}
}

// add joins another client's use.
func (c *client) add(o client) {
	sumOf(&c.vram, o.vram)
	sumOf(&c.gtt, o.gtt)
	sumOf(&c.cpu, o.cpu)
	sumOf(&c.gfx, o.gfx)
	sumOf(&c.media, o.media)
}

func sumOf[T smi.Bytes | smi.Duration](sum *smi.Opt[T], v smi.Opt[T]) {
	if n, ok := v.Get(); ok {
		*sum = smi.Some(sum.Or(0) + n)
	}
}

// idle reports whether a client holds nothing and never did anything.
func (c *client) idle() bool {
	return c.vram.Or(0) == 0 && c.gtt.Or(0) == 0 && c.cpu.Or(0) == 0 && c.gfx.Or(0) == 0 && c.media.Or(0) == 0
}
