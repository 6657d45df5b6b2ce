package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/rocwire/rocwire/discovery"
)

// names tells who the workers are, of a fleet of any size: the number in the name that is asked for. The documents have what the servers that they stand
// for write: an HTTP discovery of one's own, Kubernetes' API server, Consul, a server of DNS.
type names struct {
	at   namesAt
	http http.Server
	udp  net.PacketConn
	tcp  net.Listener
	wg   sync.WaitGroup
	out  atomic.Int64 // bytes of answers

	made sync.Map // documents, by path
}

// namesAt is where they are asked for.
type namesAt struct{ HTTP, DNS string }

// source is what discovery calls a way of naming so many workers.
func (a namesAt) source(way string, n int) string {
	switch way {
	case "http_sd":
		return fmt.Sprintf("http://%s/workers/%d", a.HTTP, n)
	case "Kubernetes":
		return fmt.Sprintf("kubernetes+http://%s/gpu-%d/rocwire", a.HTTP, n)
	case "Consul":
		return fmt.Sprintf("consul+http://%s/rocwire-%d", a.HTTP, n)
	}
	return fmt.Sprintf("dns://%s/_rocwire-%d._tcp.gpu.example", a.DNS, n)
}

func startNames() (*names, error) {
	s := &names{}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if s.tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	s.at = namesAt{HTTP: ln.Addr().String(), DNS: s.tcp.Addr().String()}
	if s.udp, err = net.ListenPacket("udp", s.at.DNS); err != nil {
		return nil, err
	}
	s.http.Handler = http.HandlerFunc(s.document)
	s.wg.Go(func() { _ = s.http.Serve(ln) }) // until it is closed
	s.wg.Go(s.datagrams)
	s.wg.Go(s.streams)
	return s, nil
}

func (s *names) close() {
	_ = s.http.Close()
	_ = s.tcp.Close()
	_ = s.udp.Close()
	s.wg.Wait()
}

// nodeName is a name as machines have.
func nodeName(i int) string { return fmt.Sprintf("gpu-%05d.cluster-a.gpu.example", i) }

// groups are the workers as file_sd and http_sd have them.
func groups(n int, port string) []discovery.Group {
	list := make([]discovery.Group, n)
	for i := range list {
		list[i] = discovery.Group{Targets: []string{address(i, port)}, Labels: map[string]string{"name": nodeName(i), "pool": "training", "rack": fmt.Sprintf("r%03d", i/8)}}
	}
	return list
}

// document answers HTTP.
func (s *names) document(w http.ResponseWriter, r *http.Request) {
	key := r.URL.String()
	b, ok := s.made.Load(key)
	if !ok {
		doc, err := namesDocument(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		text, err := json.Marshal(doc)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		b, _ = s.made.LoadOrStore(key, text)
	}
	w.Header().Set("Content-Type", "application/json")
	n, _ := w.Write(b.([]byte)) // who asked sees it
	s.out.Add(int64(n))
}

func namesDocument(r *http.Request) (any, error) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	last := parts[len(parts)-1]
	switch {
	case parts[0] == "workers":
		n, err := strconv.Atoi(last)
		return groups(min(n, maxWorkers), discovery.DefaultPort), err
	case parts[0] == "v1":
		n, err := strconv.Atoi(strings.TrimPrefix(last, "rocwire-"))
		return consulEntries(last, min(n, maxWorkers)), err
	case len(parts) == 6 && last == "endpointslices":
		n, err := strconv.Atoi(strings.TrimPrefix(parts[4], "gpu-"))
		if err != nil {
			return nil, err
		}
		q := r.URL.Query()
		limit, err := strconv.Atoi(q.Get("limit"))
		first, _ := strconv.Atoi(q.Get("continue")) // empty: the first
		return endpointSlices(parts[4], min(n, maxWorkers), first, limit), err
	}
	return nil, fmt.Errorf("there is no %s", r.URL.Path)
}

type object = map[string]any

// consulEntries are a service in Consul's catalog, with all the fields that Consul writes.
func consulEntries(service string, n int) []object {
	list := make([]object, n)
	for i := range list {
		host, _, _ := net.SplitHostPort(address(i, "1"))
		tagged := object{"lan": host, "lan_ipv4": host, "wan": host, "wan_ipv4": host}
		list[i] = object{
			"ID": fmt.Sprintf("40e4a748-2192-161a-0510-%012x", i), "Node": nodeName(i), "Address": host, "Datacenter": "dc1", "TaggedAddresses": tagged,
			"NodeMeta": object{"consul-network-segment": "", "consul-version": "1.20.1"}, "ServiceKind": "", "ServiceID": "rocwire-" + nodeName(i), "ServiceName": service,
			"ServiceTags": []string{"gpu", "mi300x"}, "ServiceAddress": host, "ServiceTaggedAddresses": object{"lan_ipv4": object{"Address": host, "Port": 18515}, "wan_ipv4": object{"Address": host, "Port": 18515}},
			"ServiceWeights": object{"Passing": 1, "Warning": 1}, "ServiceMeta": object{"cards": "8"}, "ServicePort": 18515, "ServiceSocketPath": "", "ServiceEnableTagOverride": false,
			"ServiceProxy": object{"Mode": "", "MeshGateway": object{}, "Expose": object{}}, "ServiceConnect": object{}, "ServiceLocality": nil, "CreateIndex": 1000 + i, "ModifyIndex": 2000 + i,
		}
	}
	return list
}

// perSlice is how many endpoints Kubernetes puts into a slice.
const perSlice = 100

// endpointSlices are a page of the slices of a service, as the API server writes them.
func endpointSlices(namespace string, n, first, limit int) object {
	items := []object{}
	slices := (n + perSlice - 1) / perSlice
	for k := first; k < min(slices, first+limit); k++ {
		var endpoints []object
		for i := k * perSlice; i < min(n, (k+1)*perSlice); i++ {
			host, _, _ := net.SplitHostPort(address(i, "1"))
			endpoints = append(endpoints, object{
				"addresses": []string{host}, "conditions": object{"ready": true, "serving": true, "terminating": false}, "nodeName": nodeName(i), "zone": "zone-a",
				"targetRef": object{"kind": "Pod", "namespace": namespace, "name": fmt.Sprintf("rocwire-worker-%05d", i), "uid": fmt.Sprintf("5f1d1f4e-7b1a-4b6e-9d39-%012x", i)},
			})
		}
		items = append(items, object{
			"metadata": object{
				"name": fmt.Sprintf("rocwire-%05d", k), "generateName": "rocwire-", "namespace": namespace, "uid": fmt.Sprintf("0b2c4a43-62fd-46ab-8ea5-%012x", k), "resourceVersion": "123456",
				"labels":          object{"kubernetes.io/service-name": "rocwire", "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"},
				"ownerReferences": []object{{"apiVersion": "v1", "kind": "Service", "name": "rocwire", "uid": "a3f0", "controller": true, "blockOwnerDeletion": true}},
			},
			"addressType": "IPv4", "endpoints": endpoints, "ports": []object{{"name": "hip", "port": 18515, "protocol": "TCP"}},
		})
	}
	meta := object{"resourceVersion": "123456"}
	if first+limit < slices {
		meta["continue"] = strconv.Itoa(first + limit)
	}
	return object{"kind": "EndpointSliceList", "apiVersion": "discovery.k8s.io/v1", "metadata": meta, "items": items}
}

// maxDatagram is how long an answer by UDP may be for most resolvers; the length of one by TCP has two bytes.
const (
	maxDatagram = 1232
	maxStream   = 1<<16 - 1
)

func (s *names) datagrams() {
	b := make([]byte, 4096)
	for {
		n, from, err := s.udp.ReadFrom(b)
		if err != nil {
			return
		}
		if a := s.records(b[:n], maxDatagram); a != nil {
			_, _ = s.udp.WriteTo(a, from) // who asked asks again
			s.out.Add(int64(len(a)))
		}
	}
}

func (s *names) streams() {
	for {
		conn, err := s.tcp.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() {
			defer conn.Close()
			var size [2]byte
			if _, err := io.ReadFull(conn, size[:]); err != nil {
				return
			}
			q := make([]byte, binary.BigEndian.Uint16(size[:]))
			if _, err := io.ReadFull(conn, q); err != nil {
				return
			}
			if a := s.records(q, maxStream); a != nil {
				_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(a))), a...))
				s.out.Add(int64(len(a)))
			}
		})
	}
}

// records are as many SRV records as an answer can have; it says that there are more, as RFC 2181 wants it.
func (s *names) records(question []byte, limit int) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	name, _, _ := strings.Cut(q.Name.String(), ".")
	n, err := strconv.Atoi(strings.TrimPrefix(name, "_rocwire-"))
	if err != nil || q.Type != dnsmessage.TypeSRV {
		return nil
	}
	head := dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true}
	b, err := pack(head, q, min(n, maxWorkers), limit)
	if err != nil {
		head.Truncated = true
		b, err = pack(head, q, 0, limit)
	}
	if err != nil {
		return nil
	}
	return b
}

// pack makes an answer with n records; an error is that it is too long.
func pack(head dnsmessage.Header, q dnsmessage.Question, n, limit int) ([]byte, error) {
	b := dnsmessage.NewBuilder(nil, head)
	b.EnableCompression()
	if err := b.StartQuestions(); err != nil {
		return nil, err
	}
	if err := b.Question(q); err != nil {
		return nil, err
	}
	if err := b.StartAnswers(); err != nil {
		return nil, err
	}
	if n > limit/32 {
		return nil, io.ErrShortBuffer
	}
	for i := range n {
		r := dnsmessage.SRVResource{Priority: 1, Weight: 1, Port: 18515, Target: dnsmessage.MustNewName(nodeName(i) + ".")}
		if err := b.SRVResource(dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 30}, r); err != nil {
			return nil, err
		}
	}
	text, err := b.Finish()
	if err == nil && len(text) > limit {
		err = io.ErrShortBuffer
	}
	return text, err
}
