// Package admission limits how much of a worker one client can take: connections that have not said who they are, sessions, and management
// connections, each in all, by address and by identity.
//
// # Addresses
//
// An address is an IPv4 address, an IPv6 network of 64 bits, or a user of the Unix socket ([SourceOf]). Many clients may share one: a machine with
// tests, or a Kubernetes node behind its gateway. So the shares of one address are large, and are there so that it cannot have everything.
//
// # Strangers
//
// A connection that has not said who it is costs a descriptor and a goroutine for a few seconds. [Strangers] holds them to a number. One that
// says nothing for longer than two seconds makes room for a newcomer when its address has its share, or when all places are taken. Before that, from Start of them
// on, a newcomer from an address that has such a silent one is refused by chance, as sshd's MaxStartups does. Addresses whose connections keep
// coming to nothing are refused for a while ([Penalties]); loopback is not, because everybody on the machine shares it.
//
// # Places
//
// [Places] counts those who have been let in. Some are kept free for operators: whoever may end sessions comes in when everything else is taken.
package admission
