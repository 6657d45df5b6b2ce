// Package cluster starts a real control plane of Kubernetes for tests: etcd, kube-apiserver, and on request kube-scheduler and kube-controller-manager, on
// free ports of loopback, with certificates made for the test. There is no kubelet: a test does what one does, where it wants it done.
//
// etcd is Debian's (etcd-server). The programs of Kubernetes are built from its module as Go's proxy gives it, once: they are kept in the user's cache, in
// rocwire/kubernetes-VERSION.
//
// It is a module of its own, because it needs much that rocwire does not.
package cluster
