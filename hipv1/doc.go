// Package hipv1 is the protocol of the hip-remote clients and workers that came before rocwire's own (package wire), version 0x0100: what its messages
// look like, how each is read and checked, and both ends of its questions about cards. Package hipv1/session serves its HIP calls. Nothing here is for
// new programs.
//
// # Frames
//
// Everything is little-endian and packed. A message is a header of 20 bytes and a payload:
//
//	offset  type  field
//	0       u32   magic 0x48495052, the same as package wire's
//	4       u16   version 0x0100; the high byte is what counts
//	6       u16   operation
//	8       u32   request id, which the reply repeats and clients do not compare
//	12      u32   length of the payload in bytes, at most 2 GiB
//	16      u32   flags: RESPONSE 1, ERROR 2 (never set), HAS_INLINE_DATA 4, NO_REPLY 8
//
// A client has one request open that wants a reply, so replies are in order. A request with NO_REPLY is executed and never answered. A reply begins
// with a code of four bytes: a hipError_t, or a negative number of the questions about cards. What follows has the length of its operation whether the
// call has succeeded or not; lists and copied bytes follow only where it has.
//
// The structs of this package are the payloads, field by field in order and without gaps; a reply's begin behind the code. What comes behind a struct,
// bytes or a list, its comment says.
//
// # Connection
//
// A client sends INIT, with nothing or with the name of shared memory that it would rather use; the answer is the four bytes of a code, no more, as some
// clients read exactly those. Programs that ask about cards send SMI_INIT first and no INIT. SHUTDOWN is sent before the connection is closed, and its
// reply is not read. Nobody says who he is, and nothing is protected.
//
// # Dialects
//
// Version 0x0100 is several protocols, which differ in the length of five messages and in who names what:
//
//	                            February    later       April
//	STREAM_CREATE*              8           8           16: with a handle
//	MODULE_LOAD_DATA*           8           8           16, before the code object: with a handle
//	MODULE_GET_FUNCTION         264         1032        1040: with a handle
//	  its reply, in all         20          532         788
//	LAUNCH_KERNEL               48          -           72: with events and flags
//	GET_DEVICE_PROPERTIES reply 628         628         4 and a hipDeviceProp_t of HIP 6
//
// The lengths tell them apart ([Dialect]), but for properties: who has shown no dialect yet is taken for one of April. In April's a client gives its
// streams, modules and functions handles, and its memory addresses (MALLOC_VADDR), and does not wait for the worker to have made them.
//
// # What a client must not be believed
//
// Lengths, counts and offsets may say anything. [Parse] checks what a message can be checked for by itself; handles and addresses are the session's.
package hipv1
