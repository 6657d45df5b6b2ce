// Package discovery finds workers: in files and at URLs that name them in the format
// of Prometheus' service discovery (file_sd and http_sd).
//
// # Trust
//
// Whoever writes a file or answers at a URL decides which workers are asked: both are
// the operator's. They are read within bounds all the same: so many bytes, so many
// targets, names of labels as Prometheus has them. A source that fails or makes no
// sense as a whole leaves the targets that it named before; a single target that makes
// no sense is left out and counted.
package discovery
