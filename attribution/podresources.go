package attribution

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/rocwire/rocwire/smi"
)

// maxGrants bounds what is kept of an answer.
const maxGrants = 1 << 16

// grant is one device that a container was given.
type grant struct {
	owner
	device string
}

// listGrants asks the kubelet at a socket for every AMD device that a container was given.
// Each question has a connection of its own: there are six a minute, and gRPC would wait
// longer and longer before it tries again to reach a kubelet that is being restarted.
func listGrants(ctx context.Context, path string) ([]grant, error) {
	conn, err := grpc.NewClient("unix://"+path, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxPodAnswer)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer conn.Close()
	answer, err := podresources.NewPodResourcesListerClient(conn).List(ctx, &podresources.ListPodResourcesRequest{})
	if err != nil {
		s := status.Convert(err)
		return nil, fmt.Errorf("%s: gRPC status %s: %s", path, s.Code(), clean(s.Message(), 256))
	}
	grants := grantsOf(answer)
	if len(grants) > maxGrants {
		return nil, smi.Errorf(smi.ErrBadData, "%s: more than %d devices", path, maxGrants)
	}
	return grants, nil
}

// grantsOf are the AMD devices in an answer, those of a device plugin and those of a
// claim. Names that Kubernetes would not give are left out.
func grantsOf(answer *podresources.ListPodResourcesResponse) (grants []grant) {
	for _, pod := range answer.GetPodResources() {
		for _, c := range pod.GetContainers() {
			o := owner{podName{pod.GetNamespace(), pod.GetName()}, c.GetName()}
			if !isName(o.namespace) || !isName(o.name) || !isName(o.container) {
				continue
			}
			for _, d := range c.GetDevices() {
				if resource, ok := strings.CutPrefix(d.GetResourceName(), resourcePrefix); ok && resource != "" {
					for _, id := range d.GetDeviceIds() {
						grants = append(grants, grant{o, id})
					}
				}
			}
			for _, r := range c.GetDynamicResources() {
				for _, claim := range r.GetClaimResources() {
					if claim.GetDriverName() == draDriver {
						grants = append(grants, grant{o, claim.GetDeviceName()})
					}
				}
			}
		}
	}
	return grants
}
