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
