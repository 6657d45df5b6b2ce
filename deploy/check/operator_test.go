package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// What TensorFusion's operator (2.17) makes of a pool's pod templates, as far as it can spoil what we say there, in our own words.

// pool is what the operator reads of a pool.
type pool struct {
	name                             string
	hypervisorImage, vectorImage     string
	vector                           bool
	port                             int
	hypervisor, worker               *corev1.PodTemplate
	isolation                        string
	provider                         providerConfig
	clientEndpoint, schedulingConfig string
}

// providerConfig is what it reads of a ProviderConfig.
type providerConfig struct {
	Vendor string
	Images struct{ Middleware, RemoteClient, RemoteWorker string }
	// Hypervisor is about the agent on each node.
	Hypervisor struct {
		PrivilegedHypervisor bool
		LDLibraryPath        string `json:"ldLibraryPath"`
		HostPathMounts       []struct {
			Name, HostPath, MountPath string
			ReadOnly                  bool
		}
	}
}

const dataFolder = "/run/tensor-fusion" // of the node, in the agent's containers

// composeHypervisor makes the pod of the agent.
func composeHypervisor(p *pool) *corev1.PodSpec {
	spec := p.hypervisor.Template.Spec.DeepCopy()
	want := 1
	if p.vector {
		want = 2
	}
	if len(spec.Containers) != want { // then the template's are of no use to it
		spec.Containers = []corev1.Container{{Name: "tensorfusion-hypervisor"}, {Name: "vector"}}[:want]
	}
	mount := []corev1.VolumeMount{{Name: "tf-data", MountPath: dataFolder}}
	spec.InitContainers = append(spec.InitContainers,
		corev1.Container{Name: "init-shm", Image: p.hypervisorImage, Command: []string{"hypervisor", "mount-shm"}, VolumeMounts: mount},
		corev1.Container{
			Name: "init-runtime", Image: p.provider.Images.Middleware, VolumeMounts: mount,
			Command: []string{"sh", "-c", "if [ -d /build ]; then cp -r /build/. " + dataFolder + "; fi"},
		})
	c := &spec.Containers[0]
	c.Image = p.hypervisorImage
	c.VolumeMounts = append(c.VolumeMounts, mount...)
	if p.vector {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "logs", MountPath: "/logs"})
		spec.Containers[1].Image = p.vectorImage
	}
	if c.SecurityContext == nil {
		c.SecurityContext = &corev1.SecurityContext{}
	}
	if h := p.provider.Hypervisor; h.PrivilegedHypervisor {
		c.SecurityContext.Privileged = &h.PrivilegedHypervisor
	}
	if path := p.provider.Hypervisor.LDLibraryPath; path != "" {
		setEnv(c, "LD_LIBRARY_PATH", path)
	}
	for _, m := range p.provider.Hypervisor.HostPathMounts {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: m.Name, MountPath: m.MountPath, ReadOnly: m.ReadOnly})
	}
	if len(c.Resources.Limits) == 0 {
		c.Resources.Limits = corev1.ResourceList{"memory": quantityOf("256Mi")}
	}
	// What it does not find it adds; the library by its bare name.
	for k, v := range map[string]string{"TF_HARDWARE_VENDOR": p.provider.Vendor, "TF_ACCELERATOR_LIB_PATH": "libaccelerator_amd.so"} {
		if env(c, k) == "" {
			setEnv(c, k, v)
		}
	}
	setEnv(c, "API_LISTEN_ADDR", fmt.Sprintf("0.0.0.0:%d", p.port))
	c.Args = append(c.Args, "--isolation-mode="+p.isolation, "--isolation-policy=static")
	return spec
}

// composeWorker makes the pod of a worker for a workload with an isolation and limits of memory, in MiB, and percent of a card's time.
func composeWorker(t *testing.T, p *pool, isolation string, memory, percent int) *corev1.PodSpec {
	t.Helper()
	if p.worker == nil {
		t.Fatalf("pool %s: worker pod template is not configured", p.name)
	}
	spec := p.worker.Template.Spec.DeepCopy()
	c := &spec.Containers[0]
	c.Name, c.Image = "tensorfusion-worker", p.provider.Images.RemoteWorker
	for k, v := range map[string]string{"HYPERVISOR_IP": "192.0.2.1", "HYPERVISOR_PORT": fmt.Sprint(p.port), "POD_NAME": "w", "POD_NAMESPACE": "n", "CONTAINER_NAME": c.Name, "TF_ENABLE_LOG": "1"} {
		setEnv(c, k, v)
	}
	if isolation == "hard" {
		for k, v := range map[string]int{"TF_GPU_MEMORY_LIMIT": memory, "TF_CUDA_MEMORY_LIMIT": memory, "TF_CUDA_SM_PERCENT_LIMIT": percent} {
			setEnv(c, k, fmt.Sprint(v))
		}
	}
	if len(c.Command) == 0 { // it takes the place of the image's ENTRYPOINT and CMD; args stay
		c.Command = []string{"./tensor-fusion-worker", "-p", "8000"}
	}
	return spec
}

func env(c *corev1.Container, name string) string {
	if i := slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name }); i >= 0 {
		return c.Env[i].Value
	}
	return ""
}

func setEnv(c *corev1.Container, name, value string) {
	c.Env = append(slices.DeleteFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name }), corev1.EnvVar{Name: name, Value: value})
}

// documents are the resources of one kind in a file.
func documents(t *testing.T, file, kind string) (list []map[string]any) {
	t.Helper()
	for doc := range strings.SplitSeq(string(read(t, file)), "\n---\n") {
		var v map[string]any
		if err := yaml.Unmarshal([]byte(doc), &v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if v["kind"] == kind {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		t.Fatalf("%s has no %s", file, kind)
	}
	return list
}

// pools are those of our manifests.
func pools(t *testing.T) (list []*pool) {
	t.Helper()
	var provider providerConfig
	into(t, documents(t, "../tensorfusion/providerconfig.yaml", "ProviderConfig")[0]["spec"], &provider)
	add := func(name string, spec any) {
		var s struct {
			SchedulingConfigTemplate string
			NodeManagerConfig        struct{ DefaultIsolationMode string }
			ComponentConfig          struct {
				Client     struct{ OperatorEndpoint string }
				Hypervisor struct {
					Image, VectorImage string
					EnableVector       bool
					PortNumber         int
					PodTemplate        *corev1.PodTemplate
				}
				Worker struct{ PodTemplate *corev1.PodTemplate }
			}
		}
		into(t, spec, &s)
		h := s.ComponentConfig.Hypervisor
		if h.PodTemplate == nil {
			t.Fatalf("pool %s has no template for the hypervisor", name)
		}
		list = append(list, &pool{
			name: name, hypervisorImage: h.Image, vectorImage: h.VectorImage, vector: h.EnableVector, port: h.PortNumber, hypervisor: h.PodTemplate,
			worker: s.ComponentConfig.Worker.PodTemplate, isolation: s.NodeManagerConfig.DefaultIsolationMode, provider: provider,
			clientEndpoint: s.ComponentConfig.Client.OperatorEndpoint, schedulingConfig: s.SchedulingConfigTemplate,
		})
	}
	cluster := documents(t, "../tensorfusion/cluster.yaml", "TensorFusionCluster")[0]
	for _, v := range cluster["spec"].(map[string]any)["gpuPools"].([]any) {
		m := v.(map[string]any)
		add("cluster.yaml "+m["name"].(string), m["specTemplate"])
	}
	for _, m := range documents(t, "../tensorfusion/gpupool.yaml", "GPUPool") {
		add("gpupool.yaml", m["spec"])
	}
	return list
}

// into reads a part of a document into a type, as the API server would.
func into(t *testing.T, v, to any) {
	t.Helper()
	b, err := yaml.Marshal(v)
	if err == nil {
		err = yaml.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}
