// Package joint keeps the accounts that sessions have together: the quota of a token, or of a group of tokens, is for all sessions that began with it.
//
// The process that starts the sessions, their parent, has the [Accounts]; each session is a [Holder] of one. A session asks before it has more of a card's
// memory, and is told yes or no under one lock, so that two that ask for the last of it at once never get more than there is. What a session holds is
// noted with it and is free when it leaves, however it ends; one that is parked is there and holds what it holds.
//
// # Time
//
// An account has one budget of each card's time, which fills at its share of the clock. Holders draw a little of it at a time, so that not every kernel
// costs a question, and say what they ran beyond that. A budget below nothing outlives the last holder until it is paid: programs that start one another
// have no more than one that lasts.
//
// # Trust
//
// A session process may say anything. What it gives back is at most what it holds, what it takes is within the account or its own excess, and the time it
// says that its kernels ran is bounded by the clock. So it can use up what its account has, which it may anyway, and nothing of others.
package joint
