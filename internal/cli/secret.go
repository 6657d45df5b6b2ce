package cli

import (
	"errors"
	"os"
)

// WriteSecret writes a file that is not there yet and that nobody else can read.
func WriteSecret(name, content string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}
