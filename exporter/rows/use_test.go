package rows

import (
	"fmt"
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/smi"
)

func busy(pid uint32, name string, d time.Duration) smi.Process {
	return smi.Process{PID: pid, Name: name, VRAM: smi.Some(smi.Bytes(1 << 30)), Busy: smi.Some(smi.Duration(d))}
}

// A process's share is of the time between two readings of its card.
func TestBusyShare(t *testing.T) {
	m := newMaker(Options{})
	for i, c := range []struct {
		after, age    time.Duration
		p             smi.Process
		ratio, length string
	}{
		{0, 0, busy(7, "a", 100*time.Second), "", ""},
		{10 * time.Second, 0, busy(7, "a", 104*time.Second), "0.4", "10"},
		{20 * time.Second, 10 * time.Second, busy(7, "a", 104*time.Second), "", ""}, // not read again
		{22 * time.Second, 2 * time.Second, busy(7, "a", 109*time.Second), "0.5", "10"},
		{32 * time.Second, 0, busy(7, "a", 3*time.Second), "", ""},     // another process
		{33 * time.Second, 0, busy(7, "a", 9*time.Second), "1", "1"},   // counters of several engines
		{34 * time.Second, 0, busy(7, "b", 10*time.Second), "", ""},    // another process
		{35 * time.Second, 0, smi.Process{PID: 7, Name: "b"}, "", "1"}, // counters are gone
	} {
		card := fullCard(0, c.p)
		card.Age = c.age
		got := cells(encoded(t, m.Make(&exporter.Reading{Time: begun.Add(c.after), Cards: []exporter.Card{card}})), "gpu_process_usage")
		m.Keep()
		if len(got) != 1 || got[0]["busy_ratio"] != c.ratio || got[0]["interval_seconds"] != c.length {
			t.Errorf("%d: %v, want %s of %s", i, got, c.ratio, c.length)
		}
	}
}

// Without Keep, the next interval covers this one too.
func TestBusyNotKept(t *testing.T) {
	m := newMaker(Options{})
	read := func(after, total time.Duration) map[string]string {
		r := &exporter.Reading{Time: begun.Add(after), Cards: []exporter.Card{fullCard(0, busy(7, "a", total))}}
		return cells(m.Make(r), "gpu_process_usage")[0]
	}
	read(0, 0)
	m.Keep()
	read(10*time.Second, 5*time.Second)
	expect(t, read(20*time.Second, 6*time.Second), map[string]string{"busy_seconds": "6", "interval_seconds": "20", "busy_ratio": "0.3"})
}

func TestProcessUsage(t *testing.T) {
	p := smi.Process{
		PID: 42, Name: "python3", User: "ann", VRAM: smi.Some(smi.Bytes(5)), CUOccupancy: smi.Some(0), Origin: smi.OriginSession, Session: "s1",
		Client:    &smi.Client{Address: "10.0.0.9:4", Host: "laptop", PID: 99, Executable: "/usr/bin/train", User: "bob", Pod: "cp", Namespace: "cn"},
		Container: &smi.Container{ID: "abc", Name: "main", PodUID: "u", Pod: "wp", Namespace: "wn"},
	}
	local := smi.Process{PID: 43}
	b := encoded(t, newMaker(Options{}).Make(&exporter.Reading{Time: begun, Cards: []exporter.Card{fullCard(3, p, local, p)}}))
	got := cells(b, "gpu_process_usage")
	if len(got) != 2 {
		t.Fatalf("%v", got)
	}
	want := map[string]string{
		"ts": "1790000000000", "cluster": "c", "node": "node-1", "pool": "p", "gpu": "3", "uuid": "12ff74a1-0000-1000-8012-000000000003", "pid": "42",
		"name": "python3", "username": "ann", "pod": "wp", "namespace": "wn", "session": "s1", "client_host": "laptop", "client_user": "bob",
		"client_pod": "cp", "client_namespace": "cn", "remote": "true", "client_pid": "99", "client_executable": "/usr/bin/train",
		"client_address": "10.0.0.9:4", "container": "main", "container_id": "abc", "pod_uid": "u", "origin": "session", "vram_bytes": "5", "compute_units": "0",
	}
	expect(t, got[0], want)
	if len(got[0]) != len(want) {
		t.Errorf("more than is known: %v", got[0])
	}
	if len(got[1]) != 8 { // ts, cluster, node, pool, gpu, uuid, pid, remote
		t.Errorf("more than is known: %v", got[1])
	}
}

func TestMaxProcesses(t *testing.T) {
	var list []smi.Process
	for i := range 10 {
		list = append(list, smi.Process{PID: uint32(100 + i), VRAM: smi.Some(smi.Bytes(i % 5))})
	}
	m := newMaker(Options{MaxProcesses: 3})
	got := cells(m.Make(&exporter.Reading{Time: begun, Cards: []exporter.Card{fullCard(0, list...)}}), "gpu_process_usage")
	var pids []string
	for _, r := range got {
		pids = append(pids, r["pid"])
	}
	if fmt.Sprint(pids) != "[103 104 109]" || m.Drops().Processes != 7 {
		t.Errorf("%v, %+v", pids, m.Drops())
	}
}

func TestWorkerUsage(t *testing.T) {
	client := &smi.Client{Pod: "cp", Namespace: "cn"}
	pod := &smi.Container{ID: "a", PodUID: "uid-1", Pod: "wp", Namespace: "wn"}
	m := newMaker(Options{})
	read := func(after, total time.Duration) []map[string]string {
		share := func(p smi.Process) smi.Process {
			p.Busy = smi.Some(smi.Duration(total))
			return p
		}
		card := fullCard(0,
			share(smi.Process{PID: 1, Session: "s1", Client: client, VRAM: smi.Some(smi.Bytes(48 << 30))}),
			share(smi.Process{PID: 2, Container: pod, VRAM: smi.Some(smi.Bytes(1 << 30))}),
			share(smi.Process{PID: 3, Container: pod, VRAM: smi.Some(smi.Bytes(2 << 30))}),
			smi.Process{PID: 4, VRAM: smi.Some(smi.Bytes(2 << 30))},
			smi.Process{PID: 5, Session: "s2", CUOccupancy: smi.Some(76)},
		)
		return cells(encoded(t, m.Make(&exporter.Reading{Time: begun.Add(after), Cards: []exporter.Card{card}, Sessions: []smi.Session{
			{ID: "s1", Devices: []int{0}, VRAM: smi.Some(smi.Bytes(1))},
			{ID: "s3", Client: *client, Devices: []int{0}, VRAM: smi.Some(smi.Bytes(77)),
				Quotas: []smi.SessionQuota{{Device: 1, Quota: smi.Quota{Memory: smi.Some(smi.Bytes(1))}}, {Device: 0, Quota: smi.Quota{Memory: smi.Some(smi.Bytes(308))}}}},
			{ID: "s4", Devices: []int{0, 1}, VRAM: smi.Some(smi.Bytes(77))},
			{ID: "s5", Devices: []int{1}},
		}})), "tf_worker_usage")
	}
	read(0, 0)
	m.Keep()
	got := read(10*time.Second, 6*time.Second)
	if len(got) != 5 {
		t.Fatalf("%v", got)
	}
	uuid := "12ff74a1-0000-1000-8012-000000000000"
	expect(t, got[0], map[string]string{"uuid": uuid, "worker": "node-1/s1", "pod_name": "cp", "namespace": "cn", "workload": "",
		"memory_bytes": fmt.Sprint(48 << 30), "memory_percentage": "25", "compute_percentage": "60", "compute_tflops": "784.44"})
	expect(t, got[1], map[string]string{"worker": "uid-1", "pod_name": "wp", "namespace": "wn", "memory_bytes": fmt.Sprint(3 << 30), "compute_percentage": "100"})
	expect(t, got[2], map[string]string{"worker": "node-1/s2", "memory_bytes": "", "compute_percentage": "25", "pod_name": ""})
	expect(t, got[3], map[string]string{"worker": "node-1/s3", "memory_bytes": "77", "memory_percentage": "25", "compute_percentage": "", "pod_name": "cp"})
	expect(t, got[4], map[string]string{"worker": "node-1/s4", "memory_bytes": "", "compute_tflops": "", "compute_throttled_cnt": ""})
}
