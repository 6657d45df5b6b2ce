package hip

// LaunchCooperative marks a launch whose workgroups must all be resident.
const LaunchCooperative uint32 = 1

// Launch is one kernel launch.
type Launch struct {
	Function  Function
	Grid      Dim3   // in workgroups
	Block     Dim3   // in threads
	SharedMem uint32 // dynamic LDS in bytes
	Stream    Stream
	// Args is the explicit part of the kernel argument segment as it lies in
	// memory; the runtime adds the hidden arguments. It is not kept.
	Args []byte
	// Start and Stop, where not 0, are recorded around the kernel's execution.
	Start, Stop Event
	Flags       uint32
	// GlobalSize in threads, where it is not Grid times Block: the last
	// workgroup of a dimension is then partial.
	GlobalSize Dim3
}
