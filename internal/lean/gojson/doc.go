// Package json takes the place of github.com/goccy/go-json in rocwire's programs
// (go.mod's replace). It is encoding/json under that name: the original's promise is to
// be the same thing, only faster.
//
// Apache Arrow, which the GreptimeDB ingester brings along, imports it to show arrays as
// JSON, which rocwire never does. All it would do is to make tables when the program
// starts, 1.7 MB that live as long as it does, beside 2 MB of code.
package json
