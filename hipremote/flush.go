package hipremote

// Flush sends what is held back: calls that nobody waits for, and what was
// measured. A process that ends calls it; the client stays usable.
func (c *Client) Flush() error {
	if c.guard.forked() {
		return nil // the connection is the parent's
	}
	l := c.link.Load()
	if l == nil {
		return nil
	}
	c.sendReport(l)
	return l.Flush()
}
