// Package dra tries rocwire's driver for Kubernetes' Dynamic Resource Allocation with a real control plane: the scheduler allocates cards of workers on
// simulated GPUs to claims of pods, a test does on the node what a kubelet and its container runtime do, and the programs in the containers use the cards.
package dra
