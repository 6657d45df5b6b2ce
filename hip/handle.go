package hip

// handleTraits is what the table says of a kind of handles.
type handleTraits struct {
	name     string
	wrong    Error // what HIP answers to a handle that is none
	counted  bool  // has as many owners as calls have returned it
	survives bool  // a reset of its device leaves it
}

func (k HandleKind) String() string { return handleKinds[k].name }

// Wrong is what HIP answers to a handle that is none of this kind.
func (k HandleKind) Wrong() Error { return handleKinds[k].wrong }

// Counted reports whether each call that returns a handle of this kind must be matched by one that gives it up.
func (k HandleKind) Counted() bool { return handleKinds[k].counted }

// SurvivesReset reports whether handles of this kind outlive a reset of their device.
func (k HandleKind) SurvivesReset() bool { return handleKinds[k].survives }
