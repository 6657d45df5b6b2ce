package attribution

import (
	"os"
	"strings"
)

// podName is what people call a pod.
type podName struct{ namespace, name string }

// maxPods is how many pods of a node are looked at. The kubelet's default is 110.
const maxPods = 4096

// podLogs reads the names of the pods on this node off the folders in which the
// kubelet keeps their logs, by uid. A pod keeps its folder until it is deleted.
func podLogs(dir string) map[string]podName {
	f, err := os.Open(dir)
	if err != nil {
		return nil // no node, or the folder is not to be seen from here
	}
	defer f.Close()
	entries, err := f.Readdirnames(maxPods)
	if err != nil {
		return nil
	}
	pods := make(map[string]podName, len(entries))
	for _, e := range entries {
		if uid, n, ok := parseLogFolder(e); ok {
			pods[uid] = n
		}
	}
	return pods
}

// parseLogFolder reads NAMESPACE_NAME_UID; neither name can have an underscore.
func parseLogFolder(s string) (uid string, n podName, ok bool) {
	part := strings.Split(s, "_")
	if len(part) != 3 || !isName(part[0]) || !isName(part[1]) || !isPodUID(part[2]) {
		return "", podName{}, false
	}
	return part[2], podName{part[0], part[1]}, true
}

// isName says whether Kubernetes may call something s (RFC 1123).
func isName(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != '-' && c != '.' {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}
