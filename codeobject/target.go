package codeobject

import (
	"fmt"
	"strings"
)

// Feature is the setting of one target feature.
type Feature uint8

const (
	// FeatureAny is code that runs with the feature on or off, or a target
	// without the feature.
	FeatureAny Feature = iota
	FeatureOff
	FeatureOn
)

// Target is an AMDGPU target: a processor and the settings of its features.
// Targets are compared with ==.
type Target struct {
	Processor string // "gfx90a", "gfx9-4-generic"
	SRAMECC   Feature
	XNACK     Feature
}

// targetPrefix is the target triple of everything that HIP runs.
const targetPrefix = "amdgcn-amd-amdhsa--"

// ParseTarget reads a target identifier, with or without the triple in front:
// "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "gfx942".
func ParseTarget(s string) (Target, error) {
	id := s
	if rest, ok := strings.CutPrefix(id, "amdgcn-"); ok {
		id, ok = cutTriple(rest)
		if !ok {
			return Target{}, fmt.Errorf("codeobject: target %q has no processor", s)
		}
	}
	parts := strings.Split(id, ":")
	t := Target{Processor: parts[0]}
	if !strings.HasPrefix(t.Processor, "gfx") || len(t.Processor) == len("gfx") {
		return Target{}, fmt.Errorf("codeobject: target %q names no gfx processor", s)
	}
	for _, p := range parts[1:] {
		if len(p) == 0 {
			return Target{}, fmt.Errorf("codeobject: target %q has an empty feature", s)
		}
		set := FeatureOn
		switch p[len(p)-1] {
		case '+':
		case '-':
			set = FeatureOff
		default:
			return Target{}, fmt.Errorf("codeobject: feature %q of target %q ends in neither + nor -", p, s)
		}
		field := &t.XNACK
		switch p[:len(p)-1] {
		case "xnack":
		case "sramecc":
			field = &t.SRAMECC
		default:
			return Target{}, fmt.Errorf("codeobject: unknown feature %q of target %q", p, s)
		}
		if *field != FeatureAny {
			return Target{}, fmt.Errorf("codeobject: target %q sets a feature twice", s)
		}
		*field = set
	}
	return t, nil
}

// cutTriple removes vendor, system and environment from "amd-amdhsa--gfx90a".
// Old bundles leave the environment out, new ones may write "unknown".
func cutTriple(s string) (string, bool) {
	parts := strings.SplitN(s, "-", 4)
	if len(parts) < 3 {
		return "", false
	}
	if strings.HasPrefix(parts[2], "gfx") {
		return strings.Join(parts[2:], "-"), true
	}
	if len(parts) < 4 {
		return "", false
	}
	return parts[3], true
}

// String is the target identifier with the triple in front, features in the
// order that LLVM writes them.
func (t Target) String() string {
	return targetPrefix + t.Short()
}

// Short is the target identifier without the triple: "gfx90a:sramecc+:xnack-".
func (t Target) Short() string {
	return t.Processor + t.SRAMECC.suffix("sramecc") + t.XNACK.suffix("xnack")
}

func (f Feature) suffix(name string) string {
	switch f {
	case FeatureOn:
		return ":" + name + "+"
	case FeatureOff:
		return ":" + name + "-"
	}
	return ""
}

// generics lists the processors that code for a generic target runs on.
var generics = map[string][]string{
	"gfx9-generic":    {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"},
	"gfx9-4-generic":  {"gfx940", "gfx941", "gfx942", "gfx950"},
	"gfx10-1-generic": {"gfx1010", "gfx1011", "gfx1012", "gfx1013"},
	"gfx10-3-generic": {"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"},
	"gfx11-generic":   {"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"},
	"gfx12-generic":   {"gfx1200", "gfx1201"},
}

// Generic tells whether the target stands for a family of processors.
func (t Target) Generic() bool {
	return strings.HasSuffix(t.Processor, "-generic")
}

// RunsOn tells whether code for t runs on a device: the processor is the same
// (or t is the generic target of its family), and each feature that the code
// fixes has that setting on the device. Code that fixes a feature is refused
// by a device that does not say how it is set.
func (t Target) RunsOn(device Target) bool {
	return t.match(device) > 0
}

// match ranks how well code for t suits a device: 0 not at all; an exact
// processor before a generic one, and more fixed features before fewer.
func (t Target) match(device Target) int {
	rank := 10
	if t.Processor != device.Processor {
		found := false
		for _, p := range generics[t.Processor] {
			found = found || p == device.Processor
		}
		if !found {
			return 0
		}
		rank = 1
	}
	for _, f := range [2][2]Feature{{t.SRAMECC, device.SRAMECC}, {t.XNACK, device.XNACK}} {
		if f[0] == FeatureAny {
			continue
		}
		if f[0] != f[1] {
			return 0
		}
		rank++
	}
	return rank
}
