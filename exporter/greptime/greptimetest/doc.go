// Package greptimetest is a server that speaks GreptimeDB's gRPC protocol, for tests: it
// is made of the server stubs that GreptimeDB generates from its protocol, and keeps rows
// in memory. It is no database.
//
// It is stricter than GreptimeDB. A table gets its columns from the first request that
// names it; a later one that has a tag more or less, or a column of another type, is
// refused, as is a value that is not of its column's type. Rows with the same tags and
// time replace each other, and how often that happened is counted.
package greptimetest
