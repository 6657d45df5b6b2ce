// Package service is what the programs that export have in common: gpu-exporter, and
// hip-worker with --metrics-addr. It has their flags, the HTTP server with /metrics,
// /probe and the page, and the sinks with their queues.
//
// # Trust
//
// Whoever reaches the HTTP server may read everything it serves, which names users,
// hosts and programs; nothing can be changed through it. So it listens on loopback,
// unless --insecure is given or the web configuration demands authentication over TLS:
// a user's password, or a certificate signed by a named authority. Passwords without
// TLS do not count. The web configuration is read again for each connection and
// request; should it no longer demand that, requests are refused. At most MaxRequests
// are answered at once and others wait a while, there are at most MaxConns connections, of which idle ones make
// room, and they have time limits, so that a stranger can slow others down, and no more.
// Without TLS a request must ask for a name that is this machine's. Profiles are served on loopback only, to requests for a
// loopback name, so that no web page can fetch them by having its own name lead there.
package service
