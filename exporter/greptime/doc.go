// Package greptime sends the rows of package rows to GreptimeDB, over gRPC, with
// GreptimeDB's own ingester. It creates its tables by writing to them.
//
// # What is confirmed
//
// A record is sent as one stream: a request for each table and every few thousand rows,
// then the stream is closed. A request of a stream has no answer of its own, and
// StreamWrite returns as soon as a request is buffered. The server handles the requests
// one after the other and answers once, when the stream is closed, with the number of
// rows it took in all of them; if one fails it ends the stream with that error. So only
// CloseStream's answer confirms anything, and a record leaves the queue when that counts
// at least as many rows as were sent. A stream for each record costs no connection: it is
// one more stream of the same HTTP/2 connection.
//
// When a stream breaks, the ingester forgets the server's reason, and nobody knows which
// rows were taken. What it carried is then written again table by table, in calls with an
// answer each: that finds out what the server refuses, and delivers the rest.
//
// # Exactly once
//
// A row's tags and its time are its key, and a record has the same keys however often it
// is sent: what arrives twice overwrites itself. A table that somebody created with
// append_mode = 'true' has no keys; rows that are repeated there are there twice.
//
// # Errors
//
// What the server calls an invalid argument is refused for good: a table whose columns
// have other types, mostly. The record is dropped and counted as refused, although its
// other tables were delivered, and the log has the server's words. Everything else is
// tried again; a wrong password, missing rights or a missing database after a minute,
// since somebody must change something first.
//
// # Trust
//
// The server's answers are numbers and an error's text, which is cut and made printable
// before it is logged. The password is read from a file or the environment and never
// shown; without TLS it travels in the clear, which is warned of.
package greptime
