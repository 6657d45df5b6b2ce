package exec

// Tests look at the tables themselves.
func init() { ready() }
