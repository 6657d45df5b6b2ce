package ebpf

// The compiler's version decides what it makes: CI compares with clang 19.
//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -cc clang-19 -strip llvm-strip-19 -target amd64 -output-stem zz_hip -type process -type totals -type series -type series_key -type failure_key -type allocation -type allocation_key -type call probe bpf/hip.c -- -mcpu=v3 -Wall -Wextra -Wno-unused-parameter -Werror -Wno-unused-const-variable -Wno-visibility
