package audit

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"
)

// Kind is what has happened.
type Kind string

// The kinds.
const (
	Begin   Kind = "session"    // a client of HIP was let in
	Manage  Kind = "management" // a management client was let in
	Refuse  Kind = "refused"    // a client was not let in
	Resume  Kind = "resumed"    // a client has gone on with its session after its connection was lost
	End     Kind = "ended"      // a session has ended
	Set     Kind = "set"        // a card was changed, or was to be
	Quota   Kind = "quota"      // a quota was set, or was to be
	Kill    Kind = "kill"       // a session was ended on demand, or was to be
	Token   Kind = "token"      // a token was issued or taken back, or was to be
	dropped Kind = "dropped"    // so many events are missing here
)

// OK is the Result of what was done.
const OK = "ok"

// Event is one line. What is empty is left out.
type Event struct {
	Time    time.Time `json:"time"` // Record fills it in
	Kind    Kind      `json:"event"`
	Who     string    `json:"who,omitempty"`    // the name that somebody vouches for
	Method  string    `json:"method,omitempty"` // who does
	From    string    `json:"from,omitempty"`   // address, or process of this machine
	What    string    `json:"what,omitempty"`
	Session string    `json:"session,omitempty"`
	Result  string    `json:"result"` // OK, or why not
}

// maxText bounds a text in bytes.
const maxText = 512

// line is the event as it is written, without the end of the line.
func (e Event) line() []byte {
	for _, s := range []*string{&e.Who, &e.Method, &e.From, &e.What, &e.Session, &e.Result} {
		*s = clean(*s)
	}
	b, _ := json.Marshal(&e) // texts and a time: it does not fail
	return b
}

// clean keeps one line of it.
func clean(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
