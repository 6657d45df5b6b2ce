// Package loglimit keeps a log from being filled by those whom it is about: a client that sends a million broken messages, a stranger who
// connects again and again, a session process that writes whatever it likes.
//
// It is a slog.Handler in front of another one. In a minute it passes on
//
//   - PerKind lines of one message about one subject,
//   - PerSubject lines about one subject, whatever they say, and
//   - PerMessage lines of one message, whomever they are about.
//
// The subject of a line is its attribute "session", or else the host of its attribute "from". What is more is counted, and once the minute is over
// one line says how much: "malformed request … 12,345 more like this". A line about nobody is limited by its message alone.
//
// What it keeps is bounded too: subjects and messages beyond MaxCounts count together.
package loglimit

import "time"

// Limits, in lines of one Period.
const (
	Period     = time.Minute
	PerKind    = 20
	PerSubject = 200
	PerMessage = 1000

	// MaxCounts is how many counts are kept at once.
	MaxCounts = 4096
)
