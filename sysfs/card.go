package sysfs

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rocwire/rocwire/smi"
)

// card is one PCI function that amdgpu drives. It keeps its index for the life of
// the source, gone or not.
type card struct {
	smi.Device
	tree     tree
	dir      string // of the PCI device, below the root
	deviceID smi.Opt[uint64]
	revision smi.Opt[uint64]
	uniqueID smi.Opt[uint64]

	mu     sync.Mutex
	hw     *sensors
	still  *smi.Info // what was read of what does not change
	under  *topology // and the compute driver's view it belongs to
	limits violations
	meter  energy
	slow   throughput

	setting sync.Mutex // one change at a time
}

var cardName = regexp.MustCompile(`^card([0-9]+)$`)

// findCards lists the cards by PCI address. Connectors ("card0-DP-1"), render nodes,
// other drivers' cards and the parts of a partitioned card (platform devices without
// files of their own) are not cards.
func findCards(t tree) ([]*card, error) {
	names, err := t.list("sys/class/drm")
	if err != nil && smi.CodeOf(err) == smi.ErrNoPermission {
		return nil, err
	}
	seen := map[smi.BDF]bool{}
	var cards []*card
	for _, n := range names {
		if !cardName.MatchString(n) {
			continue
		}
		dir, ok := t.resolve("sys/class/drm/" + n + "/device")
		if !ok {
			continue
		}
		bdf, ok := driven(t, dir)
		if !ok || seen[bdf] {
			continue
		}
		seen[bdf] = true
		c := &card{tree: t, dir: dir}
		c.BDF = smi.Some(bdf)
		c.identify()
		cards = append(cards, c)
	}
	slices.SortFunc(cards, func(a, b *card) int { return compareBDF(a.BDF.Or(smi.BDF{}), b.BDF.Or(smi.BDF{})) })
	for i, c := range cards {
		c.Index = i
	}
	return cards, nil
}

// driven is the PCI address of a device, if amdgpu drives it.
func driven(t tree, dir string) (smi.BDF, bool) {
	s, err := t.text(dir + "/uevent")
	if err != nil {
		return smi.BDF{}, false
	}
	env := keyed(s)
	if env["DRIVER"] != "amdgpu" {
		return smi.BDF{}, false
	}
	bdf, err := smi.ParseBDF(env["PCI_SLOT_NAME"])
	return bdf, err == nil
}

// resolve is a directory without symbolic links, below the root.
func (t tree) resolve(name string) (string, bool) {
	real, err := filepath.EvalSymlinks(t.path(name))
	if err != nil {
		return "", false
	}
	root, err := filepath.EvalSymlinks(t.root)
	if err != nil {
		return "", false
	}
	rel, err := filepath.Rel(root, real)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return "", false
	}
	return rel, true
}

func compareBDF(a, b smi.BDF) int {
	x := uint64(a.Domain)<<16 | uint64(a.Bus)<<8 | uint64(a.Device)<<3 | uint64(a.Function)
	y := uint64(b.Domain)<<16 | uint64(b.Bus)<<8 | uint64(b.Device)<<3 | uint64(b.Function)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// identify reads what names the card.
func (c *card) identify() {
	id := func(name string, bits int) smi.Opt[uint64] {
		v, ok := hexID(c.line(name))
		if !ok || v == 0 && name == "unique_id" || v>>bits != 0 || v == 1<<bits-1 {
			return smi.None[uint64]()
		}
		return smi.Some(v)
	}
	c.deviceID, c.revision = id("device", 16), id("revision", 8)
	if v, ok := hexID(c.line("unique_id")); ok && v != 0 && v != ^uint64(0) {
		c.uniqueID = smi.Some(v)
	}
	if u, ok := c.uniqueID.Get(); ok {
		c.UUID = uuid(u, uint16(c.deviceID.Or(0xffff)))
	}
}

// uuid is the card's UUID as AMD's library makes it from the chip's number: its top
// byte, the function (0xff: the whole card), the PCI device, a version and a variant
// that are the same for all, and the rest of the number.
func uuid(unique uint64, device uint16) string {
	const hex = "0123456789abcdef"
	var b [16]byte
	b[0], b[1], b[2], b[3] = byte(unique>>56), 0xff, byte(device>>8), byte(device)
	b[6], b[8] = 0x10, 0x80
	for i := range 7 {
		b[9+i] = byte(unique >> (48 - 8*i))
	}
	s := make([]byte, 0, 36)
	for i, v := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			s = append(s, '-')
		}
		s = append(s, hex[v>>4], hex[v&15])
	}
	return string(s)
}

// The files of a card, by name below its PCI device.

func (c *card) at(name string) string              { return c.dir + "/" + name }
func (c *card) text(name string) (string, error)   { return c.tree.text(c.at(name)) }
func (c *card) line(name string) string            { return c.tree.line(c.at(name)) }
func (c *card) number(name string) (uint64, error) { return c.tree.number(c.at(name)) }
func (c *card) signed(name string) (int64, error)  { return c.tree.signed(c.at(name)) }
func (c *card) list(name string) ([]string, error) { return c.tree.list(c.at(name)) }
func (c *card) exists(name string) bool            { return c.tree.exists(c.at(name)) }

// figure is the number in a file as a figure, if there is one and it makes sense.
func figure[T any](c *card, name string, f func(uint64) smi.Opt[T]) smi.Opt[T] {
	v, err := c.number(name)
	if err != nil {
		return smi.None[T]()
	}
	return f(v)
}

// present fails if the card was removed, or amdgpu drives it no more.
func (c *card) present() error {
	bdf, ok := driven(c.tree, c.dir)
	switch {
	case ok && smi.Some(bdf) == c.BDF:
		return nil
	case !c.exists("uevent"):
		return smi.Errorf(smi.ErrUnavailable, "GPU %d (%s) was removed", c.Index, c.BDF)
	}
	return smi.Errorf(smi.ErrUnavailable, "GPU %d (%s) is not driven by amdgpu any more", c.Index, c.BDF)
}

// drm is the numbers of the card's device files, /dev/dri/cardN and renderDN.
func (c *card) drm() (number, render smi.Opt[uint32]) {
	names, _ := c.list("drm")
	for _, n := range names {
		if m := cardName.FindStringSubmatch(n); m != nil {
			if v, err := strconv.ParseUint(m[1], 10, 32); err == nil {
				number = smi.Some(uint32(v))
			}
		} else if r, ok := strings.CutPrefix(n, "renderD"); ok {
			if v, err := strconv.ParseUint(r, 10, 32); err == nil {
				render = smi.Some(uint32(v))
			}
		}
	}
	return number, render
}
