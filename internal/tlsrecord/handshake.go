package tlsrecord

// Messages of the handshake protocol that may come after the handshake, and how long they may be.
const (
	newSessionTicket = 4
	keyUpdate        = 24
	maxMessage       = 64 << 10
)

// handshake takes a record of the handshake protocol: several messages, or a part of one.
func (r *Reader) handshake(p []byte) error {
	r.message = append(r.message, p...)
	for len(r.message) > 0 {
		update := r.message[0] == keyUpdate
		if !update && (r.message[0] != newSessionTicket || !r.client) {
			return unexpected("a handshake message that does not belong here")
		}
		if len(r.message) < 4 {
			return nil
		}
		n := int(r.message[1])<<16 | int(r.message[2])<<8 | int(r.message[3])
		if n > maxMessage || update && n != 1 {
			return &Error{Alert: DecodeError, What: "a handshake message of a length that it cannot have"}
		}
		if len(r.message) < 4+n {
			return nil
		}
		body, rest := r.message[4:4+n], r.message[4+n:]
		if update {
			switch {
			case body[0] > 1:
				return &Error{Alert: DecodeError, What: "a key update that is none"}
			case len(rest) > 0: // what is behind it in the record has the old key
				return unexpected("more behind a key update")
			}
			r.message = nil
			return r.updated(body[0] == 1)
		}
		r.message = rest // sessions are not resumed, so a ticket is of no use
	}
	r.message = nil
	return nil
}

// updated goes on with the peer's next key.
func (r *Reader) updated(wanted bool) error {
	update := r.half.Update
	if r.Updated != nil {
		update = r.Updated
	}
	if err := update(); err != nil {
		return err
	}
	if wanted {
		r.Owed()
	}
	return nil
}
