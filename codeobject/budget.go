package codeobject

// budget bounds what is made of an object's bytes. Tables may overlap and strings may be shared, so that a small file can describe a lot: a name of a
// megabyte for each of a hundred thousand symbols. No compiler's objects come near it: they hold code, too.
type budget struct{ left, bytes uint64 }

// What parts of an Object take in memory, in bytes, about.
const (
	kernelCost = 512
	argCost    = 96
	symbolCost = 200 // with the global that it may be
	relocCost  = 48
	stringCost = 16
	floorCost  = 64 << 10 // of any object
)

func newBudget(image []byte) *budget {
	return &budget{left: 3*uint64(len(image)) + floorCost, bytes: uint64(len(image))}
}

// spend takes n bytes for what is described at offset at of the image.
func (b *budget) spend(n, at uint64) error {
	if n > b.left {
		return invalid(at, "describes more than an object of %d bytes has", b.bytes)
	}
	b.left -= n
	return nil
}
