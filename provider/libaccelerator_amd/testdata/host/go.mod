// A host like TensorFusion's hypervisor. Its module has that name because the library
// knows a host that reads gotopology.h's layout by it.
module github.com/NexusGPU/tensor-fusion

go 1.26.0

require github.com/ebitengine/purego v0.11.3
