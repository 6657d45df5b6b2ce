package text

import (
	"fmt"
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

// Client says who a remote program is, in one line.
func Client(c *smi.Client) string { return UserAtHost(c) + ", " + Program(c) }

// Program says which process a remote program is where it runs: "pid 99, /usr/bin/python3.12".
func Program(c *smi.Client) string {
	pid := "-"
	if c.PID != 0 {
		pid = strconv.FormatUint(uint64(c.PID), 10)
	}
	return fmt.Sprintf("pid %s, %s", pid, Dash(c.Executable))
}

// UserAtHost is the short form: "ada@train-3".
func UserAtHost(c *smi.Client) string { return Dash(c.User) + "@" + Dash(c.Host) }

// Place says where in Kubernetes a remote program runs, behind other text: ", pod
// ml/train-3"; nothing if it does not.
func Place(c *smi.Client) string {
	s := ""
	if c.Job != "" {
		s += ", job " + Clean(c.Job)
	}
	if c.Pod != "" {
		s += ", pod " + Clean(c.Namespace) + "/" + Clean(c.Pod)
	}
	if c.Container != "" {
		s += ", container " + Clean(c.Container)
	}
	return s
}

// Container says what a process runs in: the container, by its name where that is
// known, and the process's number inside of it if that is not 0; and the pod, "" if
// there is none.
func Container(c *smi.Container, innerPID uint32) (container, pod string) {
	id := Clean(c.ID)
	if len(id) > 12 {
		id = id[:12]
	}
	container = "container " + Dash(id)
	if c.Name != "" {
		container = "container " + Clip(Clean(c.Name), 40) + " (" + Dash(id) + ")"
	}
	if innerPID != 0 {
		container += fmt.Sprintf(", pid %d in there", innerPID)
	}
	switch {
	case c.Pod != "":
		pod = "pod " + Clean(c.Namespace) + "/" + Clean(c.Pod)
	case c.PodUID != "":
		pod = "pod uid " + Clean(c.PodUID)
	}
	return container, pod
}
