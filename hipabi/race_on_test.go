//go:build race

package hipabi

const raceEnabled = true
