// Package conntrack takes the place of github.com/mwitkow/go-conntrack in rocwire's
// programs (go.mod's replace). It has what prometheus/common/config calls of it, and
// dials without counting or tracing.
//
// The original imports golang.org/x/net/trace, whose initialisation registers pages
// made with html/template. A template may call any method by its name, so the linker
// has to keep every method of every type: 6 MB of gpu-exporter, a fifth of it, all of
// which is resident. rocwire links prometheus/common/config only for the types of the
// web configuration file, and never dials with it.
//
// The build tag grpcnotrace, which the Makefile sets, keeps grpc from importing the
// same package.
package conntrack
