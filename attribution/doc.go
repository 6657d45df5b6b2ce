// Package attribution says who the processes are that use a card: what /proc, the
// control groups and, on a Kubernetes node, the kubelet know of them.
//
// [New] stands in front of any smi.Source and fills in of each process what the
// source left open: name, command line, user, container, its number inside of the
// container, and the pod's names. What the source says itself is never changed.
//
// # Where a name comes from
//
// The container's id and the pod's uid are read from the process's control groups
// (docker, containerd, CRI-O, podman; cgroup v1 and v2; both drivers of the
// kubelet). The pod's names follow, in this order, from
//
//  1. /var/log/pods, whose folders are called NAMESPACE_NAME_UID;
//  2. the kubelet's PodResources socket, if one container only was given the card. Of
//     a card that several containers share, it cannot say which of them a process is.
//
// A process whose control group cannot be seen is put down to the container its
// card was given to, if that is one; a process that is seen to be in no pod never
// is.
//
// # Whom a card was given to
//
// [Source.Owners] tells of each card the containers that the kubelet allocated it to, and the Slurm jobs that processes on it are part of.
// The number of a job is read from the process's control groups (v1 and v2). Where those say nothing of Slurm, nor of a container, it is what
// the process's environment says; that is also where the partition comes from.
//
// # Numbers of processes
//
// The kernel driver counts processes as the host does. Where /proc belongs to a
// container, such a number means nothing or another process there, and nothing is
// joined; give the host's with [Options].Proc. A number that was used again is
// recognised by the process's start time.
//
// # Trust
//
// Command lines, names and environments of processes are whatever their owners wrote: they are
// cut to a length and cleaned of what is not printable. Anybody who may ask the
// source reads them. Where the operating system or the kubelet does not answer in
// time, the row is left as it was; no caller waits longer than a fraction of a
// second for either.
package attribution
