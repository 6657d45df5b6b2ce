// Package rocwire is the root of rocwire, which makes AMD GPUs usable and visible from
// anywhere on a network. There is nothing in it: the programs are in cmd, and
// docs/architecture.md says what the other packages are.
package rocwire
