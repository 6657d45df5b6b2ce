// Package graph is HIP's graphs as data: nodes with their parameters and what
// each waits for, edited by hand or by stream capture, made executable as a
// [hip.GraphDesc] and changed afterwards by [hip.GraphChange]s. Nothing here
// reaches a device.
//
// A [Space] holds every graph of a process. Its methods are named for the HIP
// functions that they answer and return HIP's errors. Objects are named by an
// [ID], so that a wrong one is told from a right one.
package graph
