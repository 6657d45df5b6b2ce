package admission

// Gate is all that a worker asks before it lets a client in.
type Gate struct {
	Strangers *Strangers
	Sessions  *Places
	Managers  *Places
	Penalties *Penalties
}

// NewGate makes one. Its errors are of the limits.
func NewGate(l Limits) (*Gate, error) {
	if err := l.Complete(); err != nil {
		return nil, err
	}
	p := NewPenalties(l.MaxPenalty)
	return &Gate{
		Strangers: NewStrangers(l.Strangers, l.StrangersPerAddress, p),
		Sessions:  &Places{What: "sessions", Flag: "--max-sessions", All: l.Sessions, PerAddress: l.SessionsPerAddress, PerIdentity: l.SessionsPerIdentity},
		Managers: &Places{
			What: "management connections", Flag: "--max-management", All: l.Managers, PerAddress: l.ManagersPerAddress, Reserved: l.Managers / 16,
		},
		Penalties: p,
	}, nil
}
