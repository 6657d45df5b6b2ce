package attribution

import "golang.org/x/sys/unix"

// stat is the folder of a process.
func (c *cache) stat(pid uint32) (inode, bool) {
	var st unix.Stat_t
	if err := unix.Stat(c.tree.path(pid), &st); err != nil {
		return inode{}, false
	}
	sec, nsec := st.Ctim.Unix()
	return inode{st.Ino, sec, nsec}, true
}
