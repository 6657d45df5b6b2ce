package tlsrecord

import (
	"encoding/binary"
	"io"
)

// MaxUseless is how many records without data may follow each other.
const MaxUseless = 32

// Reader takes apart what arrives. Space says where the next bytes go and Filled how many came; Read decrypts what is there. It is of one goroutine.
type Reader struct {
	half    *Half
	client  bool // this side is the client
	b       []byte
	most    int    // bytes that b may become
	r, w    int    // bytes not yet taken apart are b[r:w]
	plain   []byte // of a record that did not fit where it was wanted
	side    []byte // memory of plain
	message []byte // the part of a handshake message that is there
	useless int    // records without data since the last one with
	err     error  // why no more comes
	team    team
	places  []place // memory of many

	// Owed is called when the peer wants this side to update its keys, too, before it sends more.
	Owed func()
	// Updated, if not nil, is told that the peer's next records have the next key, in place of Reader's doing so itself.
	Updated func() error
}

// firstBuffer is how many bytes are enough until there is much to read.
const firstBuffer = 64 << 10

// NewReader reads records of half in a buffer that grows to so many bytes, at least MaxRecord, when more comes at once than there is room for. client
// says which side this is.
func NewReader(half *Half, client bool, size int) *Reader {
	size = max(size, MaxRecord)
	return &Reader{half: half, client: client, b: make([]byte, min(size, firstBuffer)), most: size, Owed: func() {}}
}

// Half is the protection as far as records have been taken apart.
func (r *Reader) Half() *Half { return r.half }

// Space is where the next bytes from the connection go.
func (r *Reader) Space() []byte {
	b := r.b
	if r.w == len(b) && len(b) < r.most {
		b = make([]byte, min(2*len(b), r.most))
	} else if r.w > r.r && len(b)-r.r >= MaxRecord {
		return b[r.w:]
	}
	r.w = copy(b, r.b[r.r:r.w])
	r.r, r.b = 0, b
	return b[r.w:]
}

// Filled says that n bytes are there.
func (r *Reader) Filled(n int) { r.w += n }

// Want is how many bytes are missing in the record that has begun, of its header at first: who reads no more than that reads nothing behind
// a record.
func (r *Reader) Want() int {
	n := r.w - r.r
	if n < HeaderSize {
		return HeaderSize - n
	}
	return max(HeaderSize+int(binary.BigEndian.Uint16(r.b[r.r+3:]))-n, 0)
}

// Buffered is how many bytes of a record's beginning, or of whole records, wait to be taken apart.
func (r *Reader) Buffered() int { return r.w - r.r }

// Ready reports whether Read has something to say without more bytes: data or an error, though maybe only of a record without data.
func (r *Reader) Ready() bool {
	return len(r.plain) > 0 || r.err != nil || r.w-r.r >= HeaderSize && r.Want() == 0
}

// Ahead reports the same of data and errors alone, and decrypts one record for that.
func (r *Reader) Ahead() bool {
	for len(r.plain) == 0 && r.err == nil {
		_, got, err := r.record(nil, false)
		if r.err = err; err == nil && !got {
			return false
		}
	}
	return true
}

// Read decrypts into p as many whole records as are there and fit; of one that does not fit what does. 0 without an error: more bytes are needed.
// io.EOF after the peer's close notify.
func (r *Reader) Read(p []byte) (n int, err error) {
	if len(r.plain) > 0 {
		n = copy(p, r.plain)
		r.plain = r.plain[n:]
		if len(r.plain) > 0 {
			return n, nil
		}
	}
	if r.err == nil && len(r.plain) == 0 {
		n += r.many(p[n:])
	}
	for r.err == nil && n < len(p) && len(r.plain) == 0 {
		k, got, err := r.record(p[n:], n > 0)
		if err != nil {
			r.err = err
			break
		}
		if !got {
			break
		}
		n += k
	}
	if n > 0 {
		return n, nil
	}
	return 0, r.err
}

// record takes one record apart, if it is there whole; one that does not fit is left if there is data already.
func (r *Reader) record(p []byte, some bool) (n int, got bool, err error) {
	b := r.b[r.r:r.w]
	if len(b) < HeaderSize {
		return 0, false, nil
	}
	t, size := Type(b[0]), int(binary.BigEndian.Uint16(b[3:]))
	tag := r.half.aead.Overhead()
	switch {
	case [2]byte(b[1:3]) != r.half.mark(r.half.Seq, b[0], size):
		if r.half.Suite == Checksum {
			return 0, false, ErrCorrupted
		}
		return 0, false, unexpected("something that is no record of TLS 1.3")
	case t != Data:
		return 0, false, unexpected("something that is no encrypted record")
	case size > maxBox:
		return 0, false, &Error{Alert: RecordOverflow, What: "a record that is too long"}
	case size < 1+tag:
		return 0, false, &Error{Alert: DecodeError, What: "a record that is too short"}
	case len(b) < HeaderSize+size:
		return 0, false, nil
	}
	dst := p
	if size-tag > len(p) { // type and padding behind the data are written over by what comes next
		if some {
			return 0, false, nil
		}
		if r.side == nil {
			r.side = make([]byte, maxBox)
		}
		dst = r.side
	}
	t, data, err := r.half.open(dst, b[:HeaderSize+size])
	if err != nil {
		return 0, false, err
	}
	r.r += HeaderSize + size
	n, err = r.take(t, data, p, len(dst) > 0 && len(p) > 0 && &dst[0] == &p[0])
	return n, true, err
}

// take does what a record says. Its data is in p already if inPlace.
func (r *Reader) take(t Type, data, p []byte, inPlace bool) (n int, err error) {
	if t != Data || len(data) == 0 {
		if r.useless++; r.useless > MaxUseless {
			return 0, unexpected("many records without data")
		}
		if t == Data {
			if len(r.message) > 0 {
				return 0, unexpected("data within a handshake message")
			}
			return 0, nil
		}
		return 0, r.Control(t, data)
	}
	if len(r.message) > 0 {
		return 0, unexpected("data within a handshake message")
	}
	r.useless = 0
	if inPlace {
		return len(data), nil
	}
	n = copy(p, data)
	r.plain = data[n:]
	return n, nil
}

// Control does what a record without data says. io.EOF for a close notify.
func (r *Reader) Control(t Type, p []byte) error {
	switch {
	case len(r.message) > 0 && t != Handshake:
		return unexpected("another record within a handshake message")
	case t == Alert && len(p) == 2:
		switch AlertCode(p[1]) {
		case CloseNotify:
			return io.EOF
		case UserCanceled: // a close notify follows
			return nil
		}
		return AlertError(p[1])
	case t == Alert:
		return &Error{Alert: DecodeError, What: "an alert that is none"}
	case t == Handshake && len(p) > 0:
		return r.handshake(p)
	}
	return unexpected("a record of a type that there is not")
}
