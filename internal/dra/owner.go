package dra

import (
	"context"
	"errors"
	"os"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rocwire/rocwire/internal/wholefile"
)

// owner is who may read a claim's tokens. It is decided as the kubelet does for the tokens of service accounts: the user that all containers run as, or the
// pod's group for files, or else whoever comes to the file, which on the node is only root.
type owner struct {
	mode     os.FileMode
	uid, gid int // -1: root's
}

// anybody is whoever comes to the file.
var anybody = owner{0o444, -1, -1}

// write writes a file for it.
func (o owner) write(path string, b []byte) error {
	if o == anybody {
		return wholefile.Write(path, b, o.mode)
	}
	// Nobody has the folder yet: it is whole before anybody looks.
	return errors.Join(os.WriteFile(path, b, 0o400), os.Chown(path, o.uid, o.gid), os.Chmod(path, o.mode))
}

// owner finds that of a claim. A claim that was made for one pod is read by that pod alone; others by pods that are not there yet.
func (n *Node) owner(ctx context.Context, claim *resourceapi.ResourceClaim) owner {
	ref := metav1.GetControllerOf(claim)
	if ref == nil || ref.Kind != "Pod" || ref.APIVersion != "v1" {
		return anybody
	}
	p, err := n.Client.CoreV1().Pods(claim.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil || p.UID != ref.UID {
		n.Log.Warn("who is to read a claim's tokens is not known", "namespace", claim.Namespace, "claim", claim.Name, "reason", err)
		return anybody
	}
	return ownerOf(&p.Spec)
}

// ownerOf is that of a pod's claims.
func ownerOf(p *corev1.PodSpec) owner {
	if p.HostUsers != nil && !*p.HostUsers { // its numbers are others than the node's
		return anybody
	}
	s := p.SecurityContext
	if s == nil {
		s = &corev1.PodSecurityContext{}
	}
	var user *int64
	for i, c := range append(append([]corev1.Container{}, p.InitContainers...), p.Containers...) {
		own := s.RunAsUser
		if c.SecurityContext != nil && c.SecurityContext.RunAsUser != nil {
			own = c.SecurityContext.RunAsUser
		}
		if i == 0 {
			user = own
		} else if user == nil || own == nil || *user != *own {
			user = nil
			break
		}
	}
	switch {
	case user != nil:
		return owner{0o400, int(*user), -1}
	case s.FSGroup != nil:
		return owner{0o440, -1, int(*s.FSGroup)}
	}
	return anybody
}
