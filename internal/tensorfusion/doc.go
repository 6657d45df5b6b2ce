// Package tensorfusion knows what TensorFusion calls a card and how much it counts it
// for: the same for the library that its hypervisor loads and for the tables that the
// exporter writes, so that the rows of both join.
//
// Trust: names and figures come from a card's source and may be anything. A name that
// is made of them has only letters, digits and '-', and a length; a figure is finite.
package tensorfusion
