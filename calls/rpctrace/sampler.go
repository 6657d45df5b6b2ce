package rpctrace

import (
	"math"
	"strconv"
)

// Every reads from a program's environment how many of its calls are traced: one of
// every; 0: none. problem is what makes no sense there, "" if all does.
//
// OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG are those of OpenTelemetry's SDKs:
// always_on, always_off, traceidratio and these three with parentbased_ in front. A
// ratio is one of calls, not of traces: a program has one context for all of them.
// Without a sampler, calls are traced exactly if TRACEPARENT is set and sampled.
// OTEL_SDK_DISABLED=true and OTEL_TRACES_EXPORTER=none trace nothing.
func Every(getenv func(string) string) (every uint32, problem string) {
	if getenv("OTEL_SDK_DISABLED") == "true" || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return 0, ""
	}
	parent, has := ParseTraceParent(getenv("TRACEPARENT"))
	inherited := uint32(0)
	if parent.Sampled {
		inherited = 1
	}
	name := getenv("OTEL_TRACES_SAMPLER")
	switch name {
	case "":
		return inherited, ""
	case "always_on":
		return 1, ""
	case "always_off":
		return 0, ""
	case "traceidratio":
		return ratio(getenv("OTEL_TRACES_SAMPLER_ARG"))
	case "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio":
		switch {
		case has:
			return inherited, ""
		case name == "parentbased_always_on":
			return 1, ""
		case name == "parentbased_always_off":
			return 0, ""
		}
		return ratio(getenv("OTEL_TRACES_SAMPLER_ARG"))
	}
	return 0, "OTEL_TRACES_SAMPLER=" + strconv.Quote(name) + " is not known; nothing is traced"
}

// ratio is 1 without an argument and, as OpenTelemetry wants it, with one that is none.
func ratio(arg string) (every uint32, problem string) {
	if arg == "" {
		return 1, ""
	}
	r, err := strconv.ParseFloat(arg, 64)
	switch {
	case err != nil || !(r >= 0 && r <= 1):
		return 1, "OTEL_TRACES_SAMPLER_ARG=" + strconv.Quote(arg) + " is no ratio from 0 to 1; using 1"
	case r == 0:
		return 0, ""
	}
	return uint32(min(math.Round(1/r), math.MaxUint32)), ""
}
