// Package llamacpp starts Debian's llama.cpp, unmodified, with models of random numbers that it writes, on the CPU or on what libamdhip64.so.6 a folder has.
//
// The programs lie in a tree that scripts/fetch_debian.sh makes, and run with its loader and C library. A program has the backends of the folder that it runs in.
package llamacpp
