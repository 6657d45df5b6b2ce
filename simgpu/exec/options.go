package exec

// Options say how a Program executes its code. The zero value is the usual.
type Options struct {
	// TranslateAfter is how many times a block is executed before it is translated
	// to machine code. 0 is 64. 1 is before it is executed at all, together with
	// what it may go on to, executed or not: for tests, because all of a short
	// program is machine code then. Less than 0: nothing is translated.
	TranslateAfter int
	// CodeMemory is the room for machine code in bytes, 0 is 64 MiB. Address space
	// is taken for all of it, memory for what is used.
	CodeMemory int
	// Logf takes one line when code that should be cannot be translated; nil
	// discards. See Program.Untranslated.
	Logf func(format string, args ...any)
	// Profile counts what kernels take their time for; nil: nobody does. It costs much.
	Profile *Profile
}

const (
	usualHeat       = 64
	usualCodeMemory = 64 << 20
)

// complete fills in what is left to choose.
func (o *Options) complete() {
	if o.TranslateAfter == 0 {
		o.TranslateAfter = usualHeat
	}
	if o.CodeMemory <= 0 {
		o.CodeMemory = usualCodeMemory
	}
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
}
