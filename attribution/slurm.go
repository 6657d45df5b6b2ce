package attribution

import (
	"bytes"
	"strings"

	"github.com/prometheus/procfs"
)

// job is the Slurm job that a process is part of; its zero value is none. Slurm's daemon says the number by the control group it puts
// the process in. What is only in the environment of the process is what the process says.
type job struct {
	id        string
	partition string
}

// jobOf looks for Slurm's groups in all hierarchies: …/slurm/uid_1000/job_42/step_0 (v1), …/slurmstepd.scope/job_42/step_0 (v2), either
// with the node's name.
func jobOf(lines []procfs.Cgroup) string {
	for i := range lines {
		slurm := false
		for part := range strings.SplitSeq(lines[i].Path, "/") {
			id, isJob := strings.CutPrefix(part, "job_")
			switch {
			case part == "slurm" || strings.HasPrefix(part, "slurm_") || part == "slurmstepd.scope" || strings.HasSuffix(part, "_slurmstepd.scope"):
				slurm = true
			case slurm && isJob && isJobID(id):
				return id
			}
		}
	}
	return ""
}

// isJobID says whether s is a number as Slurm counts jobs.
func isJobID(s string) bool {
	return len(s) > 0 && len(s) <= 10 && strings.Trim(s, "0123456789") == ""
}

// maxEnvironment is how much of a process's environment is looked through, in bytes.
const maxEnvironment = 128 << 10

// environment reads the job that a process's environment names. Like the command line it may take for ever.
func (t *tree) environment(pid uint32) job {
	b, err := head(t.path(pid)+"/environ", maxEnvironment)
	if err != nil {
		return job{}
	}
	return parseEnvironment(b)
}

func parseEnvironment(b []byte) (j job) {
	for entry := range bytes.SplitSeq(b, []byte{0}) {
		name, value, _ := bytes.Cut(entry, []byte("="))
		switch string(name) {
		case "SLURM_JOB_ID":
			if isJobID(string(value)) {
				j.id = string(value)
			}
		case "SLURM_JOB_PARTITION":
			j.partition = clean(string(value), maxName)
		}
	}
	if j.id == "" {
		return job{}
	}
	return j
}

// jobIn is the job of a process in this control group whose environment says so. Where the group tells, the environment only adds to it; in a container
// it is not listened to.
func jobIn(g *group, env job) job {
	switch {
	case g.job == env.id:
		return env
	case g.job != "":
		return job{id: g.job}
	case g.container != "" || g.podUID != "":
		return job{}
	}
	return env
}
