package hipv1

// Dialect is which of the protocols of version 0x0100 a client speaks.
type Dialect uint8

// The dialects.
const (
	Unknown  Dialect = iota
	February         // the worker names everything
	Later            // between the two
	April            // the client names its streams, modules, functions and memory
)

// String is the dialect's name.
func (d Dialect) String() string { return [...]string{"unknown", "February", "later", "April"}[d] }

// DialectOf is what the length of a message shows of its client's dialect, with length the whole payload's and b its beginning; Unknown if nothing.
func DialectOf(op Op, length uint32, b []byte) Dialect {
	switch op {
	case OpStreamCreate, OpStreamCreateWithFlags, OpStreamCreateWithPriority:
		if length == streamCreateApril {
			return April
		}
	case OpModuleLoadData, OpModuleLoadDataEx:
		if len(b) >= 8 && uint64(length) == moduleLoadApril+le.Uint64(b) {
			return April
		}
	case OpModuleGetFunction:
		switch length {
		case functionFebruary:
			return February
		case functionLater:
			return Later
		case functionApril:
			return April
		}
	case OpMallocVaddr, OpMallocAsyncVaddr, OpModuleLoadAndGetFunction:
		return April
	}
	return Unknown
}

// The lengths that differ.
const (
	streamCreateApril = 16
	moduleLoadEarlier = 8
	moduleLoadApril   = 16
	functionFebruary  = 264
	functionLater     = 1032
	functionApril     = 1040
	launchEarlier     = 48
	launchApril       = 72
)
