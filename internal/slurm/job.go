package slurm

import (
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"strings"
	"time"
)

// Job is what slurmd tells its prolog and epilog of a job on this node.
type Job struct {
	ID       string
	Cluster  string
	Node     string
	User     string
	UID, GID int
	Cards    []int     // of the node's, by their numbers in Slurm; none: the job has none
	End      time.Time // when it has to be over; zero: nobody knows
}

// ErrNoJob is of an environment that is not that of a script of slurmd's.
var ErrNoJob = errors.New("this is not a prolog or epilog of Slurm's: SLURM_JOB_ID and SLURMD_NODENAME are not set")

// JobOf reads a script's environment.
func JobOf(getenv func(string) string) (j Job, err error) {
	j = Job{ID: getenv("SLURM_JOB_ID"), Cluster: getenv("SLURM_CLUSTER_NAME"), Node: getenv("SLURMD_NODENAME"), User: getenv("SLURM_JOB_USER")}
	if j.ID == "" || j.Node == "" {
		return j, ErrNoJob
	}
	if _, err := strconv.ParseUint(j.ID, 10, 64); err != nil {
		return j, fmt.Errorf("SLURM_JOB_ID=%q is no number", j.ID)
	}
	if !nodeName.MatchString(j.Node) {
		return j, fmt.Errorf("SLURMD_NODENAME=%q is no name of a node", j.Node)
	}
	if j.Cluster == "" {
		j.Cluster = "cluster"
	}
	if j.UID, err = strconv.Atoi(getenv("SLURM_JOB_UID")); err != nil || j.UID < 0 {
		return j, fmt.Errorf("SLURM_JOB_UID=%q is no user", getenv("SLURM_JOB_UID"))
	}
	j.GID = -1
	if g, err := strconv.Atoi(getenv("SLURM_JOB_GID")); err == nil {
		j.GID = g
	}
	if j.User == "" {
		j.User = strconv.Itoa(j.UID)
		if u, err := user.LookupId(j.User); err == nil {
			j.User = u.Username
		}
	}
	if j.Cards, err = Numbers(getenv("SLURM_JOB_GPUS")); err != nil {
		return j, fmt.Errorf("SLURM_JOB_GPUS: %w", err)
	}
	if s, err := strconv.ParseInt(getenv("SLURM_JOB_END_TIME"), 10, 64); err == nil && s > 0 {
		j.End = time.Unix(s, 0)
	}
	return j, nil
}

// Numbers reads a list of numbers such as 0,2-3.
func Numbers(s string) (list []int, err error) {
	if s == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		first, last, pair := strings.Cut(part, "-")
		if !pair {
			last = first
		}
		a, err1 := strconv.Atoi(first)
		z, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || a < 0 || z < a || z >= maxCards {
			return nil, fmt.Errorf("%q is no list of numbers", s)
		}
		for i := a; i <= z; i++ {
			list = append(list, i)
		}
	}
	return list, nil
}

// tokenPrefix is how the tokens of a node's jobs begin.
func (j *Job) tokenPrefix() string { return "slurm/" + j.Cluster + "/" + j.Node + "/" }

// token is the id of the job's tokens.
func (j *Job) token() string { return j.tokenPrefix() + j.ID }
