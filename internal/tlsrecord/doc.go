// Package tlsrecord is TLS 1.3 (RFC 8446) after its handshake: records, key updates and alerts, without a connection.
//
// crypto/tls shakes hands and checks certificates. What it has agreed on, the cipher suite and a traffic secret for each direction, is taken over
// from there ([Half]), and can be given to another process with the socket. A [Writer] makes records of what is to be sent, many at a time; a [Reader]
// decrypts records straight to where their data belongs. Both only know bytes: whoever has the socket moves them.
//
// Everything that comes is untrusted. What does not fit the above is an [Error] with the alert to answer with.
package tlsrecord
