// Package cluster starts a real control plane of Kubernetes for tests: etcd, kube-apiserver, and on request kube-scheduler and kube-controller-manager, on
// free ports of loopback, with certificates made for the test; and nodes, each a real kubelet with containerd and runc.
//
// etcd and runc are Debian's (etcd-server, runc), containerd is of Debian's sid in ROCWIRE_SID, because Debian 12's knows no CDI. The programs of Kubernetes are
// built from its module as Go's proxy gives it, once: they are kept in the user's cache, in rocwire/kubernetes-VERSION. There is no registry: images are made of
// folders, and given to containerd as archives.
//
// It is a module of its own, because it needs much that rocwire does not.
package cluster
