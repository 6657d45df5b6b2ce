package hip

// ShareToken names memory that a runtime shares with those of other processes.
// It cannot be guessed: who has it may have the memory.
type ShareToken [32]byte

// Shared is what a Broker passes on: a descriptor, and what its publisher says
// of it. The receiver takes it for no more than a claim.
type Shared struct {
	FD   int
	Size uint64 // bytes
	Card uint32 // the publisher's backend knows what of
	Kind uint32 // likewise
}

// Broker passes descriptors between the runtimes of several processes. Safe for
// concurrent use.
type Broker interface {
	// Publish makes s available under a new token, until Withdraw or the end of
	// this process. The descriptor stays the caller's.
	Publish(s Shared) (ShareToken, Error)
	// Fetch is what was published under a token, by whichever process. The
	// descriptor becomes the caller's. ErrorInvalidValue: nothing was.
	Fetch(t ShareToken) (Shared, Error)
	// Withdraw ends what Publish began. Those who fetched it keep it.
	Withdraw(t ShareToken)
}
