// Package wire is the connection between a rocwire client and a worker: frames, handshake, calls, bulk data and liveness.
// It knows nothing of HIP or SMI; what an operation means is its users' business.
//
// # Frames
//
// Everything is little-endian. A connection carries frames in both directions, each a header of 20 bytes and a payload:
//
//	offset size  field
//	0      4     magic           0x48495052
//	4      2     version         0x0200; the high byte must agree, the low byte is negotiated
//	6      2     op
//	8      4     request id
//	12     4     payload length  at most 8 MiB (MaxPayload), checked before anything is read or allocated
//	16     4     flags           RESPONSE 1, ERROR 2, INLINE_DATA 4, NO_REPLY 8, MORE 16, TIMED 32, PACKED 64; no other bit may be set
//
// Operations below 0x0100 belong to this package: INIT 1, SHUTDOWN 2, PING 3, 4 (shared memory, see below), ACK 5. All others are the user's.
//
// Under the frames is a transport: a stream of bytes in order, both ways. On Linux that is the socket itself, of TCP or a Unix socket; any
// other net.Conn (other systems, a crypto/tls connection) serves too, at the price of two goroutines and a copy. Or it is shared memory, see below.
//
// TLS 1.3 ([SecureClient], [SecureServer]) comes before the first frame. crypto/tls shakes hands; the records behind that are package tlsrecord's, so that
// another process can go on with the socket ([Handover]) and data is decrypted straight to where it belongs, or the kernel's ([KernelTLS]).
//
// # Requests (client to server)
//
// The id of a request is its number in the session: the first frame after INIT is 1, every further message adds one (modulo
// 2^32), and the server checks it. Flags: INLINE_DATA, NO_REPLY, MORE. The payload is
//
//	without INLINE_DATA          fixed part
//	INLINE_DATA                  u32 fixed length | fixed part | bulk
//	INLINE_DATA and MORE         u32 fixed length | u64 bulk length of the whole message | fixed part | first part of the bulk
//
// A message with MORE is continued by frames of the same op and id, flag INLINE_DATA, whose payload is bulk only; all but the
// last carry MORE. The frames of one request stand together: nothing comes between them. A client that can cut its work into
// several messages (a copy can) should cut it at [MaxBulk], so that the calls of other threads get in between.
//
// # Replies and notices (server to client)
//
// A reply carries op and id of its request and the flag RESPONSE; ERROR is set exactly when its code is not 0. The payload is
//
//	without INLINE_DATA          i32 code | results
//	INLINE_DATA                  i32 code | u32 length of results | results | bulk
//	INLINE_DATA and MORE         i32 code | u32 length of results | u64 bulk length of the whole message | results | bulk
//
// continued like a request, except that frames of other replies may come in between: frames of one reply are found by their id.
//
// Where the feature "timing" (FeatureTiming) has been granted, the first frame of a reply may carry TIMED; its continuations do not. Then 16
// bytes stand right behind the code, whatever follows:
//
//	i32 code | u64 queue | u64 execution | …
//
// Both are nanoseconds of at most 2^60. Queue is how long the request, which had been read from the socket as far as its bulk, waited to be
// handled; execution is the time from there to the reply, without the wait for its own bulk to arrive. The rest of the time that the
// client waits is the network's, bulk data in both directions and requests that the server has not read yet included. Without the feature TIMED
// is a protocol violation.
//
// A frame without RESPONSE is a notice: it carries NO_REPLY, id 0 and at most 64 KiB (MaxNotice).
//
// # Compressed bulk data
//
// Where the feature "zstd" (FeaturePacked) has been granted, any frame with bulk data, of requests and replies, first ones and continuations, may carry PACKED. Its
// bulk data is then a Zstandard frame of at most 1 MiB, which is at most 1 MiB of data; u32 length of that data stands right before the fixed part or the results, or
// at the begin of a continuation:
//
//	INLINE_DATA and PACKED            … | u32 fixed length | u32 data length | fixed part | compressed
//	INLINE_DATA, MORE and PACKED      … | u32 fixed length | u64 bulk length of the whole message | u32 data length | fixed part | compressed
//	continuation with PACKED          u32 data length | compressed
//
// Lengths of a whole message are those of the data. Who sends decides: this package compresses where data waits for a path of less than 250 MB/s and a sample shows that
// it gains time.
//
// # Handshake
//
// The client's first frame is INIT with id 0 and a MessagePack map (Hello, at most 64 KiB); the server answers with a reply to INIT: i32
// code | MessagePack map (Welcome). A code other than 0 is a refusal and the connection ends. Unknown fields are ignored on both sides. The
// version is the lower one of both headers' low bytes within major version 2; features are the intersection of both lists.
//
// # Shared memory
//
// Where client and server are on one machine the connection can go through memory. A client that wants that has "shared-memory" (FeatureSharedMemory) in its
// Hello. A server that wants it, too, sends a frame of operation 4 (OpShare) before the Welcome, with NO_REPLY and id 0, whose payload is
//
//	u32 length of name | name | 16 bytes of token
//
// and the client answers with a frame of the same operation, RESPONSE and id 0, whose payload is an i32: 0 if everything from here on, the Welcome first, goes
// through the memory; anything else, with ERROR, if nothing does. The descriptor of the memory comes along with the server's frame on a Unix socket, whose
// name is empty. Otherwise it is had by connecting to the abstract Unix socket of that name (it begins with @), writing the token and reading a byte, with which
// it comes; a token is good for once. A client that cannot connect there, because it came through a forwarded port, answers no. The socket of the connection
// stays open and silent, and its end is the connection's.
//
// A second descriptor may come with that of the memory: a SOCK_SEQPACKET Unix socket, whose other end the server has. By it the server passes descriptors that the
// client has asked for by a call of the user's: each in a message of 8 bytes, a number by which the reply names it, before that reply. A client without it, or one
// that takes none, gets an error there.
//
// The memory is a memfd with the seals SHRINK, GROW and SEAL. It has a page with the counters of both rings, 512 bytes each, and then the rings, of equal sizes
// that are powers of two from 64 KiB to 64 MiB: first the one to the server. All counters are in the machine's byte order:
//
//	offset size
//	0      8     head: bytes put in; of the writer
//	8      8     base: which of them lies at the ring's start; of the writer, changed only while the ring is empty, before head
//	128    8     tail: bytes taken out; of the reader
//	256    4     hungry: 1 while the reader sleeps, on this word as a futex
//	384    4     crowded: 1 while the writer sleeps, likewise
//
// Byte number n lies at (n - base) modulo the ring's size. Who has changed head, or tail, and finds 1 in the other's word sets that to 0 and wakes all who sleep on
// it; a reader need not before three quarters of the ring are free. Who sleeps sets its word first and then looks once more.
//
// # Integrity
//
// Where the feature "integrity" (FeatureIntegrity) has been granted, all bytes behind the Welcome, both ways, are in records, whose bounds have nothing
// to do with those of frames:
//
//	u8 23 | u16 mark | u16 length of what follows | data (at most 16 KiB) | u8 type | u32 sum
//
// The lengths and the mark are big-endian, as in TLS. Type is 23 for data; an alert (21) is two bytes, level and reason as in TLS: {1, 0} ends the direction in
// order, {2, 20} says that a sum was wrong. All sums are CRC32-C with a start of their own for each direction: that of the 9 bytes u32 sum of the
// Hello's frame | u32 sum of the Welcome's frame (the usual CRC32-C of header and payload) | u8 direction, 0 from the server and 1 from the client. A record's sum continues
// it over 4 zeros | u64 number of the record in its direction, from 0, big-endian | the 5 bytes of the header | data | type. The mark is the lower half of the sum continued
// over u64 number, little-endian | u8 23 | u16 length. A sum that is wrong ends the connection as lost, not as a violation: it is nobody's fault. A client that has
// asked for the feature and does not get it does not go on. Under TLS it is not granted: TLS does that and more.
//
// # Liveness
//
// Either side sends PING (NO_REPLY; its id is 0 from the server and the next number from the client) when it has sent nothing for the
// heartbeat interval of the Welcome. A client waits for a reply as long as the server is heard of; only when nothing at all has arrived for the I/O timeout while
// something is pending is the connection given up, or resumed. In the middle of a frame no more bytes than heartbeats would bring count as nothing: the frame's length was
// changed on its way. A PING without NO_REPLY is answered with an empty reply. SHUTDOWN ends a
// connection in order; its payload is the reason as text (at most 1 KiB; empty: the normal end). Who has sent it should read on for a while, until the other side has ended
// the transport: the end of this side's reading may cost what is still on its way to the other.
//
// # Resumption
//
// Where the feature "resume" (FeatureResume) has been granted, the connection outlives its transport. The Welcome that grants it carries a secret of 256
// random bits. From the byte behind the Welcome on, both sides count the bytes of the stream in each direction, whatever transports it came over.
//
// Each side keeps what it has sent until the other has acknowledged it. ACK (NO_REPLY, id 0, whichever side sends it) may stand between any two frames,
// those of one message too, and counts for no id. Its payload is
//
//	u64 bytes of the stream that have been taken, so far
//
// It is sent along with another frame when 8 KiB are due, by itself when 1 MiB is, or 256 KiB and nothing more has come, and not for each call. A side that has 16 MiB unacknowledged
// begins no further frame, except ACK, until the other has acknowledged some. Whoever waits for that reads on, and keeps what has not its turn yet: at most what
// the window of the other side and one frame are.
//
// When a transport ends without SHUTDOWN, or is silent for too long, the client makes another and sends INIT with a Hello that has, besides what it had before,
// "resume": the session's number, the number of this attempt, which is more than that of any before, the count of bytes it has received, and a proof,
//
//	HMAC-SHA256(secret, "rocwire resume" | u64 session | u64 attempt | u64 received)
//
// The server answers a wrong one, and one for a session that does not exist, with a refusal (CodeNoSession by the package), and nothing changes for the session.
// A refusal that has "later" is for now: there are too many clients, say, and who comes again within its time may be let in.
// Otherwise a transport that it takes for alive is dropped, its Welcome has the session's number, the feature again and the count of bytes it has received, and
// behind INIT and Welcome each side goes on with the stream at the byte that the other has not received: in the middle of a frame, if need be. So every
// request is handled once, and every reply given once, by construction. The server waits for as long as it says (ServerOptions.Park), the client tries for as
// long as it likes (Options.Reconnect); after that the connection has ended. A refusal, SHUTDOWN and a protocol violation end it at once.
//
// # Order
//
// The server handles messages in the order they were sent. Replies come in any order. Posted messages (NO_REPLY) are gathered and sent when
// 64 KiB are together, when somebody is about to wait, or within 100 µs.
//
// # Trust
//
// Neither side trusts the other. Every length is checked against its bound before it is used; an allocation is never larger than what
// has arrived or one frame (a server may take less, ServerOptions.MaxRequest), and what waits for a slow user is bounded. A server that reads from a client writes only into memory its own handler named, and a client only
// into the Dst of a call that is still pending, never beyond its length. What is read from shared memory is copied before it is looked at, and a counter judged
// by what this side knows itself (tail ≤ head ≤ tail + size), each time it is read: a peer that rewrites them changes what it has said. Whatever does not fit the above (unknown flags, wrong
// id, a reply nobody asked for, a reply longer than Dst, a timing out of range) is a protocol violation: it ends this connection with an error that
// [errors.Is] recognises as [ErrProtocol], and nothing else. A token
// in the Hello is as secret as the transport is, and it is the listener that decides whom to let in.
package wire
