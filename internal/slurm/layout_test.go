package slurm

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/smi"
)

func cardsOf(worker, kind string, uuids ...string) (list []Card) {
	for _, u := range uuids {
		list = append(list, Card{Worker: worker, UUID: u, Type: kind})
	}
	return list
}

// TestGRES: cards of one type that follow each other are one line, and numbers are the node's.
func TestGRES(t *testing.T) {
	all := append(append(cardsOf("a", "mi210", "1", "2", "3"), cardsOf("b", "mi300x", "4", "5")...), cardsOf("c", "mi210", "6")...)
	nodes := []string{"n1", "n2", "n3"}
	l := Spread(all, nodes)
	b, err := l.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseLayout(b)
	if err != nil || !reflect.DeepEqual(again, l) {
		t.Fatalf("%v: %s", err, b)
	}
	var out strings.Builder
	if err := again.GRES(&out, nodes, "/d"); err != nil {
		t.Fatal(err)
	}
	want := `# Cards of rocwire workers. Into slurm.conf belongs:
#   GresTypes=gpu
#   NodeName=n1 … Gres=gpu:mi210:2
#   NodeName=n2 … Gres=gpu:mi210:1,gpu:mi300x:1
#   NodeName=n3 … Gres=gpu:mi300x:1,gpu:mi210:1
NodeName=n1 Name=gpu Type=mi210 File=/d/n1/card[0-1] Flags=amd_gpu_env
NodeName=n2 Name=gpu Type=mi210 File=/d/n2/card0 Flags=amd_gpu_env
NodeName=n2 Name=gpu Type=mi300x File=/d/n2/card1 Flags=amd_gpu_env
NodeName=n3 Name=gpu Type=mi300x File=/d/n3/card0 Flags=amd_gpu_env
NodeName=n3 Name=gpu Type=mi210 File=/d/n3/card1 Flags=amd_gpu_env
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

// TestSpread: every card is with one node, also where there are more nodes than cards.
func TestSpread(t *testing.T) {
	for n := 1; n < 9; n++ {
		for m := 1; m < 9; m++ {
			var uuids, nodes, got []string
			for i := range n {
				uuids = append(uuids, string(rune('a'+i)))
			}
			for i := range m {
				nodes = append(nodes, "n"+string(rune('a'+i)))
			}
			least, most := n, 0
			l := Spread(cardsOf("w", "x", uuids...), nodes)
			for _, node := range nodes {
				k := len(l.Nodes[node])
				least, most = min(least, k), max(most, k)
				for _, c := range l.Nodes[node] {
					got = append(got, c.UUID)
				}
			}
			if !slices.Equal(got, uuids) || most-least > 1 {
				t.Errorf("%d cards on %d nodes: %v, %d to %d each", n, m, got, least, most)
			}
		}
	}
}

func TestBadLayouts(t *testing.T) {
	for _, s := range []string{
		"nodes: {n1: [{worker: a}]}", "nodes: {n1: [{worker: a, card: b, type: 'x y'}]}", "nodes: {'../x': []}", "nodes: {n: [{worker: 'a,b', card: c, type: x}]}",
		"nodes: {n: [{worker: a, card: c, type: x}], m: [{worker: a, card: c, type: x}]}", "node: {}", "[",
		"nodes: {n: [{worker: a, card: c, type: x, memory: 1G}], m: [{worker: a, card: c, type: x}]}", "nodes: {n: [{worker: a, card: c, type: x, compute: 50}], m: [{worker: a, card: c, type: x, compute: 50}]}",
		"nodes: {n: [{worker: a, card: c, type: x, memory: 1G}, {worker: a, card: c, type: x, memory: 1G}]}", "nodes: {n: [{worker: a, card: c, type: x, memory: 1G}, {worker: a, card: d, type: x}]}",
		"nodes: {n: [{worker: a, card: c, type: x, memory: much}]}", "nodes: {n: [{worker: a, card: c, type: x, memory: 9999999999G}]}", "nodes: {n: [{worker: a, card: c, type: x, compute: 101}]}",
		"nodes: {n: [{worker: a, card: c, type: x, compute: -1}]}",
	} {
		if _, err := ParseLayout([]byte(s)); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestTypeOf(t *testing.T) {
	for name, want := range map[string]string{"AMD Instinct MI300X (simulated)": "mi300x", "AMD Instinct MI210": "mi210", "AMD Radeon PRO W7900": "gfx1100", "": "gfx1100"} {
		if got := TypeOf(&smi.Device{Name: name, Target: "gfx1100:xnack-"}); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
	if got := TypeOf(&smi.Device{Target: "a b"}); got != "gpu" {
		t.Error(got)
	}
}

func TestParseNodes(t *testing.T) {
	for s, want := range map[string]string{
		"n1": "n1", "a,b": "a b", "n[1-3]": "n1 n2 n3", "n[08-11],x": "n08 n09 n10 n11 x", "a[1,3-4]-ib,b": "a1-ib a3-ib a4-ib b",
		"": "no", "a,a": "no", "n[1": "no", "n[2-1]": "no", "n[1-x]": "no", "n[1][2]": "no", "n[0-4000000000]": "no", "../a": "no", "a b": "no",
	} {
		got, err := ParseNodes(s)
		if (err != nil) != (want == "no") || err == nil && strings.Join(got, " ") != want {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
}

// TestAllocated: what scontrol says of jobs with cards of two types on two nodes, and of others.
func TestAllocated(t *testing.T) {
	const line = `JobId=7 JobName=x GroupId=root(0) Nodes=n[1-2] CPU_IDs=0 Mem=0 GRES=gpu:mi210:1(IDX:0),gpu:mi300x:2(IDX:2,4) Nodes=n3 CPU_IDs=0-1 Mem=0 GRES=gpu:2(IDX:0-1),nic:1(IDX:7) MinCPUsNode=1 TresPerNode=gres:gpu:1`
	for node, want := range map[string][]int{"n1": {0, 2, 4}, "n2": {0, 2, 4}, "n3": {0, 1}, "n4": nil} {
		if got, err := parseAllocated(line, node); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", node, got, err)
		}
	}
}

func TestJobOf(t *testing.T) {
	good := map[string]string{"SLURM_JOB_ID": "42", "SLURMD_NODENAME": "n1", "SLURM_JOB_UID": "0", "SLURM_JOB_GPUS": "0,2-3", "SLURM_JOB_END_TIME": "1800000000", "SLURM_CLUSTER_NAME": "c"}
	j, err := JobOf(func(s string) string { return good[s] })
	if err != nil || j.User != "root" || !slices.Equal(j.Cards, []int{0, 2, 3}) || j.End.Unix() != 1800000000 || j.token() != "slurm/c/n1/42" {
		t.Errorf("%+v, %v", j, err)
	}
	for name, v := range map[string]string{"SLURM_JOB_ID": "../x", "SLURMD_NODENAME": "..", "SLURM_JOB_UID": "", "SLURM_JOB_GPUS": "0-99999"} {
		if _, err := JobOf(func(s string) string {
			if s == name {
				return v
			}
			return good[s]
		}); err == nil {
			t.Errorf("%s=%q is taken", name, v)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("nodes: {n: [{worker: a, card: c, type: x}]}")
	f.Add("n[1-3,07],m")
	f.Add("Nodes=n[1-2] GRES=gpu:mi210:1(IDX:0)")
	f.Fuzz(func(t *testing.T, s string) {
		if l, err := ParseLayout([]byte(s)); err == nil {
			for n := range l.Nodes {
				if !nodeName.MatchString(n) {
					t.Errorf("node %q", n)
				}
			}
		}
		if list, err := ParseNodes(s); err == nil && len(list) > maxNodes+1 {
			t.Errorf("%d nodes", len(list))
		}
		if list, err := parseAllocated(s, "n1"); err == nil && slices.Max(append(list, 0)) >= maxCards {
			t.Errorf("%v", list)
		}
	})
}
