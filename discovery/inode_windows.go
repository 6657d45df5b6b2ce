package discovery

import (
	"os"

	"golang.org/x/sys/windows"
)

// inode tells a file that was replaced from one that was written to, as most editors do.
func inode(f *os.File) any {
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info) != nil {
		return nil
	}
	return [3]uint32{info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow}
}
