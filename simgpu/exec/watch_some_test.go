//go:build !conformance

package exec

const everyCase = false
