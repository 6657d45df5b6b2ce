// Package dra tries rocwire's driver for Kubernetes' Dynamic Resource Allocation with real software: the scheduler allocates cards of workers on simulated GPUs
// to claims of pods, kubelets have the driver prepare the claims, containerd makes the CDI edits, and the programs in the containers use the cards.
package dra
