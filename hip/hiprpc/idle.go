package hiprpc

// What synchronizes, hipFree and a blocking copy from the device may be answered with a result more: that when the worker answered nothing was under way on any
// device of the session, so that all that was sent before the request is done. A worker that is not certain says nothing.
const resultIdle = 1

// AppendIdle encodes that nothing is under way.
func AppendIdle(b []byte) []byte { return append(b, resultIdle) }

// Idle reports whether results say that nothing is under way. Results that it does not know say nothing.
func Idle(results []byte) bool { return len(results) == 1 && results[0] == resultIdle }
