package admission

// Descriptors of a worker's parent process.
const (
	perSession = 4  // the control socket, the process, and the client's socket for a moment
	others     = 96 // what it has open besides: listeners, cards, logs, files that are read
	fewest     = 16 // connections of a kind that there is room for in any case
)

// Descriptors is how many descriptors a worker needs when all places are taken, what sessions publish left out.
func (l *Limits) Descriptors() int {
	return others + perSession*l.Sessions + l.Strangers.Full + l.Managers
}

// Fit lowers the limits of strangers, management connections and what sessions publish until n descriptors are enough, so that sessions have theirs
// whoever else comes and whatever others do. It is false where they are not enough for the sessions.
func (l *Limits) Fit(n int) bool {
	left := n - others - perSession*l.Sessions
	defer func() { l.Shares = min(l.Shares, max(fewest, n-l.Descriptors())) }()
	if left >= l.Strangers.Full+l.Managers {
		return true
	}
	share := func(m *int) { *m = min(*m, max(fewest, left/2)) }
	share(&l.Strangers.Full)
	share(&l.Managers)
	l.Strangers.Start = min(l.Strangers.Start, max(1, l.Strangers.Full/2))
	l.StrangersPerAddress = min(l.StrangersPerAddress, max(1, l.Strangers.Full/2))
	l.ManagersPerAddress = min(l.ManagersPerAddress, max(1, l.Managers/2))
	return l.Descriptors() <= n
}
