//go:build conformance

package exec

const everyCase = true
