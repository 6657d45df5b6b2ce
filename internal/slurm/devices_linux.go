package slurm

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// deviceMajor is a number that the kernel keeps for local use and gives to no driver: Slurm wants devices in gres.conf, and nothing is to be behind them.
const deviceMajor = 60

// Devices makes the files that stand for a node's cards in gres.conf, below dir.
func Devices(l *Layout, node, dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, node), 0o755); err != nil {
		return err
	}
	for i := range l.Nodes[node] {
		err := unix.Mknod(File(dir, node, i), unix.S_IFCHR|0o400, int(unix.Mkdev(deviceMajor, uint32(i))))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return &fs.PathError{Op: "mknod", Path: File(dir, node, i), Err: err}
		}
	}
	return nil
}
