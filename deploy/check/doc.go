// Package check judges what is deployed with the tools of those who run it: Kubernetes
// manifests by kubeconform, compose files by compose's own loader, container files by
// BuildKit's linter, systemd units by systemd-analyze.
//
// It is a module of its own, because it needs much that rocwire does not.
//
// The schemas of Kubernetes' own kinds are made here from the types of k8s.io/api, so
// that nothing has to be fetched or carried; those of custom resources are in crds, in
// our own words: the fields that our manifests may use, with what is known of them.
package check
