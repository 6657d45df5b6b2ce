// Package influx sends the rows of package rows as InfluxDB's line protocol over HTTP, to
// InfluxDB, GreptimeDB, VictoriaMetrics and whatever else takes it.
//
// A table is a measurement; counts are unsigned where the server has the interface of
// InfluxDB 2, signed elsewhere; tags that are null and fields that are null are left out, and
// a row without fields is not sent. Times are milliseconds, and requests are compressed.
//
// # Once
//
// A row's measurement, tags and time are its key: InfluxDB and GreptimeDB replace a row
// that comes again by itself. VictoriaMetrics keeps both, equal in time and value, unless
// its deduplication is on.
//
// # Errors
//
// 400 and 422 are the server's final word on a request. Its tables are then sent one by
// one, so that one that the server will not have keeps no other from arriving; the
// record is dropped and counted as refused, and the log has the server's words. 413 has
// a request sent in halves. 401, 403, 404 and redirections, which are not followed, are
// tried again after a minute, 429 and 503 when the server says, everything else soon.
//
// # Trust
//
// Texts in rows come from clients and may be anything. Servers disagree on what a
// backslash in a tag means, and a value that one reads as text could be further tags to
// another: backslashes in tags become slashes. The token is read from a file or the
// environment, and never shown; without HTTPS it travels in the clear, which is warned
// of. Of a server's answer the first bytes are read, and made printable before they are
// logged.
package influx
