// Package keys makes what TLS between workers and clients needs, for people who have no CA: a directory with a CA of their own, keys of servers and of clients.
//
// All keys are ECDSA P-256; certificates are for one use each, and of a random serial number. Private keys are files that only their owner can read, and
// nothing that is there is written over.
package keys
