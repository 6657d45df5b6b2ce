package hipv1

// ErrorStringRequest is the request of OpGetErrorString and OpGetErrorName.
type ErrorStringRequest struct {
	ErrorCode int32
}

// ErrorStringReply is the reply to OpGetErrorString and OpGetErrorName.
type ErrorStringReply struct {
	ErrorString [256]byte
}
