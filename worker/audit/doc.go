// Package audit keeps a record of what a worker has let clients do and what it has refused: one line of JSON for each event.
//
// [Log.Record] never waits: lines go through a bounded queue, and what does not fit, or comes faster than anybody could read, is counted in a line of its
// own. Refusals have a budget of their own, so that a flood of strangers hides nothing of what known clients do. No event contains a token.
package audit
