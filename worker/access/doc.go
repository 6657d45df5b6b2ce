// Package access says who a client of a worker is and what it may do.
//
// What a client says of itself (wire.Hello) is a claim. An [Identity] is what the transport, a token or the operating system vouches for. The
// parent process of a worker decides it, before a session process exists, and every right, quota and limit hangs on it.
//
// [Authority] decides. It knows the tokens of a file, whose form [Rules] has, and those that an OpenID issuer or a Kubernetes cluster has signed.
package access
