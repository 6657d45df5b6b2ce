// Package smi is the vocabulary of GPU management: what a card is, what it does
// at this moment and who uses it.
//
// Everything that can tell such things implements [Source]: a simulated card, a
// remote worker (package smiremote), later the vendor's library and the kernel's
// files. Everything that shows them (command line, exporter, C library) reads a
// Source and does not know which one.
//
// # Values
//
// A unit is part of the type ([Bytes], [Watts], [Celsius], [Joules], [Hertz],
// [Ratio]) and of the JSON name. Base units only; a source converts once, where
// it reads.
//
// "Not available" is a state of its own, [Opt] without a value: null in JSON, a
// missing field on the wire, a missing series in Prometheus. A vendor's sentinel
// (65535, 0xFFFFFFFF, …) never leaves the source that read it. Text is the one
// exception: no name or serial number is ever the empty string, so the empty
// string says "not available" and Opt is not needed.
//
// # Growing
//
// Snapshots are structs that gain fields, clocks and temperatures are lists that
// gain members, and [Unimplemented] lets Source gain methods: a source that does
// not know a new question answers [ErrNotSupported].
package smi
