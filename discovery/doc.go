// Package discovery finds workers: in files and at URLs that name them in the format of Prometheus' service discovery (file_sd and http_sd), as SRV
// records of DNS, as EndpointSlices of Kubernetes, in Consul's catalog.
//
// # Sources
//
// A source is named by a line of text:
//
//	/etc/rocwire/workers.json                 a file of file_sd, .json, .yml or .yaml; its last part may be a pattern
//	https://cmdb.example/workers              http_sd
//	dns:_rocwire._tcp.example.org             SRV records, from this machine's resolver
//	dns://10.0.0.53/_rocwire._tcp.example.org the same from a server
//	kubernetes:NAMESPACE/SERVICE              the EndpointSlices of a service of the cluster that this program runs in
//	kubernetes:NAMESPACE?selector=KEY=VALUE   those with a label
//	kubernetes+http://127.0.0.1:8001/…        either of them, through kubectl proxy
//	consul+http://HOST:8500/SERVICE?dc=…      Consul's catalog of a service (/v1/catalog/service), with CONSUL_HTTP_TOKEN if it is set; consul+https too
//
// All that is named is a target, whether it is ready, passes its checks or not: that a worker does not answer is for whoever asks it to say.
//
// What a source knows of a target besides its address are its labels, under the names that Prometheus' own discovery gives them (__meta_consul_node,
// __meta_kubernetes_pod_node_name, …).
//
// # Trust
//
// Whoever writes a file or answers a question decides which workers are asked: all of them are the operator's. They are read within bounds all the same:
// so many bytes, so many targets, names of labels as Prometheus has them. A source that fails or makes no sense as a whole leaves the targets that it
// named before; a single target that makes no sense is left out and counted.
package discovery
