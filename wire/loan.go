package wire

// lent are the numbers of the first and behind the last of the bytes sent that may lie in the user's memory.
type lent struct{ from, to uint64 }

// Loan is the bulk data of several messages (Msg.Loan) that stays lent until Return: where what was sent may have to be sent again, only the end of it
// has to be copied then, and not the end of each message. The zero Loan is empty.
type Loan struct{ lent lent }

// add lends more, which was sent later.
func (l *Loan) add(x lent) {
	if l.lent.to == 0 {
		l.lent.from = x.from
	}
	l.lent.to = max(l.lent.to, x.to)
}

// Return makes bulk data its owner's again.
func (c *Client) Return(l *Loan) {
	if l.lent.to != 0 {
		c.collect(l.lent)
		c.out.release(l.lent)
		l.lent = lent{}
	}
}

// Reclaim makes memory its owner's again that was lent by Msg.Lend. It need not be called for memory that the program goes on with when the server has done what the
// request asks for: then it has taken the bulk data, and what it has taken is not sent again, so nobody looks at that memory. But memory that
// ends, by being unmapped say, must be reclaimed in any case, and before that.
func (c *Client) Reclaim(memory []byte) {
	if c.lasting != nil {
		c.lasting.reclaim(memory)
	}
}

// ReclaimAll does so with all that was lent by calls that have returned: for who says that something is done without having asked the server.
func (c *Client) ReclaimAll() {
	n := c.lends.Load()
	if c.lasting == nil || c.back.Load() >= n {
		return
	}
	if all := c.lasting.win.lentFrom(0); all.to != 0 {
		c.collect(all)
		c.out.release(all)
	}
	for {
		b := c.back.Load()
		if b >= n || c.back.CompareAndSwap(b, n) {
			return
		}
	}
}
