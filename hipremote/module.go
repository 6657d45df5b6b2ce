package hipremote

import (
	"crypto/sha256"
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// ModuleLoadData sends one code object, or only what it is if the worker has it from before.
func (c *Client) ModuleLoadData(t hip.Thread, image []byte) (hip.Module, hip.Error) {
	ct := c.begin()
	m, code := c.load(&ct, t, image)
	c.end(&ct, hip.OpModuleLoadData, code)
	return m, code
}

func (c *Client) load(ct *callTime, t hip.Thread, image []byte) (hip.Module, hip.Error) {
	l, code := c.ready()
	if code != hip.Success {
		return 0, code
	}
	if len(image) == 0 || len(image) > hiprpc.MaxImage {
		return 0, hip.ErrorInvalidImage
	}
	c.creditAhead(l, t.Device)
	msg := wire.GetMsg()
	defer wire.PutMsg(msg)
	code = hiprpc.ErrorNoContent
	if l.content && len(image) >= hiprpc.MinContent {
		msg.Req = (&hiprpc.Content{Device: t.Device, Size: uint64(len(image)), Sum: sha256.Sum256(image)}).Append(msg.Req[:0])
		code = c.exchange(ct, l, hiprpc.OpModuleLoadContent, msg)
	}
	if code == hiprpc.ErrorNoContent {
		e := wire.Enc{B: msg.Req[:0]}
		e.I32(t.Device)
		msg.Req, msg.Bulk = e.B, image
		code = c.uploading(l, len(image), func() hip.Error { return c.exchange(ct, l, hip.OpModuleLoadData, msg) })
	}
	if code != hip.Success {
		return 0, code
	}
	var loaded hiprpc.Loaded
	if !loaded.Decode(msg.Rep, l.functions) {
		return 0, c.violation(hip.OpModuleLoadData)
	}
	c.functions.loaded(&loaded)
	for _, f := range loaded.Functions {
		c.handles.AddOf(hip.HandleFunction, uint64(f.Function), hip.HandleModule, uint64(loaded.Module), t.Device)
	}
	return loaded.Module, hip.Success
}

// functions are those that came with their modules.
type functions struct {
	mu sync.Mutex
	of map[hip.Module]map[string]hip.Function
}

func (f *functions) loaded(l *hiprpc.Loaded) {
	byName := make(map[string]hip.Function, len(l.Functions))
	for _, x := range l.Functions {
		byName[x.Name] = x.Function
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[hip.Module]map[string]hip.Function{}
	}
	f.of[l.Module] = byName
}

func (f *functions) unloaded(m hip.Module) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of, m)
}

func (f *functions) find(m hip.Module, name string) (hip.Function, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x, ok := f.of[m][name]
	return x, ok
}

// ModuleGetFunction is hipModuleGetFunction. What came with the module is known, unless its device was reset since.
func (c *Client) ModuleGetFunction(t hip.Thread, module hip.Module, name string) (hip.Function, hip.Error) {
	if f, ok := c.functions.find(module, name); ok && c.handles.Check(hip.HandleFunction, uint64(f)) == hip.Success {
		if _, code := c.ready(); code != hip.Success {
			return 0, code
		}
		return f, hip.Success
	}
	return c.moduleGetFunction(t, module, name)
}
