package attribution

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/rocwire/rocwire/smi"
)

// Whom the kubelet gave a card to is known before anybody uses it, of a card that several have of all of them.
func TestOwnersByKubelet(t *testing.T) {
	k := kubelet(t,
		pod("ml", "train-0", map[string][]string{"main": {"0000:c1:00.0"}}),
		pod("ml", "serve-0", map[string][]string{"a": {"0000:c6:00.0-slice-0"}}),
		pod("web", "serve-1", map[string][]string{"b": {"0000:c6:00.0-slice-1"}}))
	s := attributed(t, twoCards(nil, nil), Options{Proc: newTree(t), Kubelet: "unix://" + k.socket})
	want := map[int][]smi.Owner{
		0: {{Source: smi.OwnerKubelet, Pod: "train-0", Namespace: "ml", Container: "main"}},
		1: {{Source: smi.OwnerKubelet, Pod: "serve-0", Namespace: "ml", Container: "a"}, {Source: smi.OwnerKubelet, Pod: "serve-1", Namespace: "web", Container: "b"}},
	}
	eventually(t, "what the kubelet knows", func() bool { return len(s.Owners()) == 2 })
	if got := s.Owners(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestOwnersBySlurm(t *testing.T) {
	const groups = "0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0"
	dir := newTree(t,
		proc{pid: 10, uid: 1000, cgroup: groups, environ: "A=b\x00SLURM_JOB_ID=42\x00SLURM_JOB_PARTITION=gpu\x00"},
		proc{pid: 11, uid: 1000, cgroup: groups, environ: "SLURM_JOB_PARTITION=gpu\x00SLURM_JOB_ID=42\x00"},
		proc{pid: 12, uid: 1001, cgroup: "5:cpuset:/slurm/uid_1001/job_43/step_batch\n0::/", environ: "SLURM_JOB_ID=42\x00SLURM_JOB_PARTITION=gpu"}, // it lies
		proc{pid: 13, uid: 1002, environ: "SLURM_JOB_ID=44\x00"},
		proc{pid: 14, uid: 1003, cgroup: inPod(uidA, idA), environ: "SLURM_JOB_ID=45\x00"}, // may have any environment
		proc{pid: 15, uid: 1004})
	first := []smi.Process{{PID: 10}, {PID: 11}, {PID: 12}, {PID: 99}}
	src := twoCards(first, []smi.Process{{PID: 13}, {PID: 14}, {PID: 15}})
	s := attributed(t, src, Options{Proc: dir})
	if got := s.Owners(); len(got) != 0 {
		t.Errorf("nobody has asked for processes: %+v", got)
	}
	if _, err := s.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	idle, err := smi.TakeSnapshot(t.Context(), twoCards(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	want := map[int][]smi.Owner{
		0: {{Source: smi.OwnerSlurm, JobID: "42", JobUser: "ada", JobPartition: "gpu"}, {Source: smi.OwnerSlurm, JobID: "43", JobUser: "1001"}},
		1: {{Source: smi.OwnerSlurm, JobID: "44", JobUser: "1002"}},
	}
	if got := s.Owners(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	// The job is over: the card has no processes, and no owner.
	src.SetCards(idle.Devices...)
	if _, err := s.Processes(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if got := s.Owners(); len(got[0]) != 0 || len(got[1]) != 1 {
		t.Errorf("after its end: %+v", got)
	}
	s.jobs.seen[1] = seenJobs{time.Now().Add(-2 * jobsKeep), s.jobs.seen[1].jobs}
	if got := s.Owners(); len(got[1]) != 0 {
		t.Errorf("nobody has asked for a while: %+v", got)
	}
}

// A job whose processes are not all known as well yet has one owner, two users' processes that say the same job have two.
func TestJobIsOneOwner(t *testing.T) {
	of := func(uid, user, partition string) *identity {
		return &identity{uid: uid, user: user, job: job{id: "42", partition: partition}}
	}
	var j jobs
	j.set(0, []*identity{of("1000", "1000", ""), of("1000", "ada", ""), nil, of("1001", "bob", ""), of("1000", "1000", "gpu")})
	want := []smi.Owner{{Source: smi.OwnerSlurm, JobID: "42", JobUser: "ada", JobPartition: "gpu"}, {Source: smi.OwnerSlurm, JobID: "42", JobUser: "bob"}}
	if got := j.of()[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestJobOf(t *testing.T) {
	for path, want := range map[string]string{
		"/slurm/uid_1000/job_7/step_0/task_0":                       "7",
		"/slurm_node1/uid_1000/job_8":                               "8",
		"/system.slice/slurmstepd.scope/job_9/step_extern":          "9",
		"/system.slice/node1_slurmstepd.scope/job_10/step_0":        "10",
		"/../../slurmstepd.scope/job_11":                            "11",
		"/user.slice/job_12":                                        "",
		"/system.slice/slurmd.service":                              "",
		"/slurm/uid_1000/job_":                                      "",
		"/slurm/uid_1000/job_1x/step_0":                             "",
		"/slurm/uid_1000/job_" + strings.Repeat("1", 11):            "",
		"/job_13/slurm":                                             "",
		"/kubepods/pod" + uidA + "/" + idA + "/slurm/uid_0/job_14/": "14",
	} {
		if got := jobOf([]procfs.Cgroup{{Path: "/"}, {Path: path}}); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// An environment is whatever its process wrote there.
func FuzzEnvironment(f *testing.F) {
	f.Add([]byte("SLURM_JOB_ID=1\x00SLURM_JOB_PARTITION=a\x1b[2Jb\x00"))
	f.Add([]byte("SLURM_JOB_ID\x00=\x00SLURM_JOB_ID=-1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		j := parseEnvironment(b)
		if j.id == "" && j != (job{}) || j.id != "" && !isJobID(j.id) || len(j.partition) > maxName || strings.ContainsAny(j.partition, "\x00\n\x1b") {
			t.Errorf("%q", j)
		}
	})
}
