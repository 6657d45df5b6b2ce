// Package wholefile writes files that are whole whenever somebody looks.
package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces a file, or makes it. It has its old content or the new one, also after a crash, and nobody but its owner can read the new one before it
// has its mode.
func Write(path string, b []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // readable for its owner only
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
