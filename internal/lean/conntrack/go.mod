// What prometheus/common's HTTP client calls of this module. See doc.go.
module github.com/mwitkow/go-conntrack

go 1.26
