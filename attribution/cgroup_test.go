package attribution

import (
	"strings"
	"testing"

	"github.com/prometheus/procfs"
)

const (
	idA  = "3f4b5c6d7e8f90112233445566778899aabbccddeeff00112233445566778899"
	idB  = "aaaabbbbccccddddeeeeffff0000111122223333444455556666777788889999"
	uidA = "0d6f1c9e-8a2b-4c3d-9e4f-5a6b7c8d9e0f"
	uidB = "77777777-8888-9999-aaaa-bbbbbbbbbbbb"
	// The uid of a pod that a file on the node describes.
	uidFile = "0123456789abcdef0123456789abcdef"
)

func under(uid string) string { return strings.ReplaceAll(uid, "-", "_") }

func TestParseCgroupPath(t *testing.T) {
	for path, want := range map[string][2]string{
		"":                                       {},
		"/":                                      {},
		"/user.slice/user-1000.slice":            {},
		"/init.scope":                            {},
		"/docker/" + idA:                         {idA},
		"/system.slice/docker-" + idA + ".scope": {idA},
		"/system.slice/nerdctl-" + idA + ".scope":                                                                                   {idA},
		"/machine.slice/libpod-" + idA + ".scope":                                                                                   {idA},
		"/machine.slice/libpod-" + idA + ".scope/container":                                                                         {idA},
		"/libpod_parent/libpod-" + idA:                                                                                              {idA},
		"/machine.slice/machine-libpod_pod_" + idB + ".slice/libpod-" + idA + ".scope":                                              {idA},
		"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + idA + ".scope/container":                               {idA},
		"/machine.slice/libpod-conmon-" + idA + ".scope":                                                                            {},
		"/kubepods.slice/kubepods-pod" + under(uidA) + ".slice/crio-conmon-" + idA + ".scope":                                       {"", uidA},
		"/kubepods/pod" + uidA + "/" + idA:                                                                                          {idA, uidA},
		"/kubepods/burstable/pod" + uidA + "/" + idA:                                                                                {idA, uidA},
		"/kubepods/besteffort/pod" + uidA + "/crio-" + idA:                                                                          {idA, uidA},
		"/kubepods/besteffort/pod" + uidFile + "/" + idA:                                                                            {idA, uidFile},
		"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + under(uidA) + ".slice/cri-containerd-" + idA + ".scope": {idA, uidA},
		"/kubepods.slice/kubepods-pod" + under(uidA) + ".slice/crio-" + idA + ".scope":                                              {idA, uidA},
		"/kubepods.slice/kubepods-pod" + under(uidA) + ".slice/crio-" + idA + ".scope/container":                                    {idA, uidA},
		"/kubepods.slice/kubepods-pod" + under(uidA) + ".slice/docker-" + idA + ".scope":                                            {idA, uidA},
		"/kubepods.slice/kubepods-pod" + under(uidA) + ".slice":                                                                     {"", uidA},
		"/system.slice/containerd.service/kubepods-burstable-pod" + under(uidA) + ".slice:cri-containerd:" + idA:                    {idA, uidA},
		// The reader is in a control group namespace of its own.
		"/../../kubepods-besteffort-pod" + under(uidA) + ".slice/cri-containerd-" + idA + ".scope": {idA, uidA},
		// A node that is a container (kind), and a container within a pod's container.
		"/docker/" + idB + "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + under(uidA) + ".slice/cri-containerd-" + idA + ".scope": {idA, uidA},
		"/kubepods/pod" + uidA + "/" + idA + "/docker/" + idB: {idA, uidA},
		"/docker/" + idA + "/docker/" + idB:                   {idA},
		// Nearly.
		"/docker/" + idA[1:]:                      {},
		"/docker/" + idA + "0":                    {},
		"/docker/" + strings.ToUpper(idA):         {},
		"/docker/g" + idA[1:]:                     {},
		"/kubepods/pod" + uidA[1:] + "/x":         {},
		"/kubepods/podx" + uidA[1:] + "/x":        {},
		"/tripod" + uidA + "/x":                   {},
		"/kubepods/pod" + uidA[:35] + "g/" + idA:  {idA},
		"/docker/buildkit/0m5rnrbg2bvmvdn3cswyzv": {},
	} {
		c, u := parseCgroupPath(path)
		if c != want[0] || u != want[1] {
			t.Errorf("%s:\n got %q %q\nwant %q %q", path, c, u, want[0], want[1])
		}
	}
}

func TestGroupOf(t *testing.T) {
	line := func(paths ...string) (out []procfs.Cgroup) {
		for i, p := range paths {
			out = append(out, procfs.Cgroup{HierarchyID: i, Path: p})
		}
		return out
	}
	for _, c := range []struct {
		lines []procfs.Cgroup
		want  group
	}{
		{nil, group{root: true}},
		{line("/", "/"), group{root: true}},
		{line("/", "/user.slice"), group{}},
		{line("/user.slice", "/docker/"+idA, "/docker/"+idB), group{container: idA}},
		{line("/docker/"+idB, "/kubepods/pod"+uidA+"/"+idA), group{container: idA, podUID: uidA}},
		{line("/kubepods/pod"+uidA, "/docker/"+idB), group{podUID: uidA}},
		{line("/docker/"+idB, "/kubepods/pod"+uidA), group{podUID: uidA}},
	} {
		if got := groupOf(c.lines); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.lines, got, c.want)
		}
	}
}

// What is found is well-formed, and stands in the path.
func FuzzParseCgroupPath(f *testing.F) {
	f.Add("/kubepods/burstable/pod" + uidA + "/" + idA)
	f.Add("/a.slice/kubepods-pod" + under(uidA) + ".slice:cri-containerd:" + idA)
	f.Add("/docker/" + idA + "/x/pod" + uidFile + "/libpod-conmon-" + idB + ".scope")
	f.Add("/../..//:::/pod/-/.scope/.slice")
	f.Fuzz(func(t *testing.T, path string) {
		c, u := parseCgroupPath(path)
		if c != "" && (len(c) != 64 || !isHex(c) || !strings.Contains(path, c)) {
			t.Errorf("container %q", c)
		}
		if u != "" && (!isPodUID(u) || strings.Contains(u, "_") || !strings.Contains(strings.ReplaceAll(path, "_", "-"), u)) {
			t.Errorf("pod %q", u)
		}
		if c2, u2 := parseCgroupPath("/outer" + path); strings.HasPrefix(path, "/") && (c2 != c || u2 != u) {
			t.Errorf("below another group: %q %q, was %q %q", c2, u2, c, u)
		}
	})
}
