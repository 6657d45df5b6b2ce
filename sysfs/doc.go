// Package sysfs is an smi.Source over the files of the Linux kernel's amdgpu
// driver, for machines without AMD's management library.
//
// A card is a PCI function that amdgpu drives and that has a /sys/class/drm/cardN.
// Its figures come from the files beside its PCI device, from hwmon, from the
// binary table gpu_metrics, from the compute driver's topology and processes
// (/sys/class/kfd/kfd) and from /proc/PID/fdinfo of the programs that have it
// open. docs/smi-sysfs.md says which figure comes from where and what it needs.
//
// # Trust
//
// The files are the kernel's, but their form differs between its versions, a card
// may go while it is read, and a tree below another root (a container's view of its
// host, a recorded one) may hold anything. So every read is bounded, every value is
// checked before it is used, and what makes no sense is "not available", never a
// panic and never a wrong figure of another card. Of /proc/PID only the fields
// that the kernel writes are believed.
//
// # Reading
//
// Questions are answered from the files at the moment they are asked; nothing is
// read when nobody asks, except that a file which blocks (pcie_bw measures for a
// second) is read aside and its figure appears in a later answer. Several who ask
// the same at the same moment share one reading, and a reading that hangs in the
// driver is not started a second time.
package sysfs
