package amdsmi

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// deviceDir is where device files are, and access is access(2); tests have their own.
var (
	deviceDir = "/dev"
	access    = syscall.Access
)

// permissionHint names the first device file that this process may not use, and the
// group that may; render nodes of other cards do not matter. Empty if all is well.
func permissionHint(render *uint32) string {
	files := []string{filepath.Join(deviceDir, "kfd")}
	if render != nil {
		files = append(files, filepath.Join(deviceDir, "dri", "renderD"+strconv.Itoa(int(*render))))
	} else {
		nodes, _ := filepath.Glob(filepath.Join(deviceDir, "dri", "renderD*"))
		files = append(files, nodes...)
	}
	const readWrite = 4 | 2
	for _, f := range files {
		err := access(f, readWrite)
		if err == nil || os.IsNotExist(err) {
			continue
		}
		return fmt.Sprintf("; %s: %v%s", f, err, groupHint(f))
	}
	return ""
}

// groupHint says which group a user must be in to use a file.
func groupHint(file string) string {
	st, err := os.Stat(file)
	if err != nil {
		return ""
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok || st.Mode().Perm()&0o060 != 0o060 {
		return "; usually members of the groups render and video may use it"
	}
	g, err := user.LookupGroupId(strconv.Itoa(int(sys.Gid)))
	if err != nil {
		return fmt.Sprintf("; members of group %d may use it (usually render or video)", sys.Gid)
	}
	return fmt.Sprintf("; members of group %s may use it", g.Name)
}
