package smitest

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

// checkNumbers walks the JSON form of a snapshot, where each name carries its
// unit, and refuses what no card can measure: negative figures, shares above 1,
// and the vendor's sentinels for "not available".
func checkNumbers(t *testing.T, what string, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	for _, problem := range badNumbers(what, tree) {
		t.Error(problem)
	}
}

func badNumbers(path string, v any) (bad []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			bad = append(bad, badNumbers(path+"."+k, e)...)
		}
	case []any:
		for i, e := range v {
			bad = append(bad, badNumbers(fmt.Sprintf("%s[%d]", path, i), e)...)
		}
	case float64:
		if reason := badNumber(path, v); reason != "" {
			bad = append(bad, fmt.Sprintf("%s = %v %s", path, v, reason))
		}
	}
	return bad
}

func badNumber(path string, v float64) string {
	has := func(suffix string) bool { return strings.HasSuffix(path, suffix) }
	switch v {
	case math.MaxUint16:
		if (!has("_id") || has(".oam_id")) && !has(".pid") && !has("container_pid") && !has(".number") {
			return "is a sentinel"
		}
	case math.MaxUint32, math.MaxUint64, math.MaxInt32, math.MaxInt64:
		return "is a sentinel"
	}
	switch {
	case has("_celsius"):
		if v < -50 || v > 250 {
			return "is no temperature of a card"
		}
	case v < 0:
		return "is negative"
	case (has("_ratio") || has(".ratio")) && v > 1:
		return "is more than all"
	case has("_watts") && v > 10_000:
		return "is no power of a card"
	case has("_hertz") && (v > 100e9 || v > 0 && v < 1e3):
		return "is no clock of a card (hertz, not megahertz)"
	case has("_volts") && v > 60:
		return "is no voltage of a card (volts, not millivolts)"
	case has("_transfers_per_second") && (v > 1e12 || v > 0 && v < 1e9):
		return "is no rate of a link (transfers per second, not gigatransfers)"
	case has("_lanes") && v > 64:
		return "is no width of a link"
	case has("_seconds") && v > 1e10:
		return "is longer than any card has run"
	case has("_bytes") && v > 1<<56:
		return "is no memory of a card"
	}
	return ""
}
