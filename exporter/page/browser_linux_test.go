package page

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// browser is a headless Chromium, spoken to by the DevTools protocol over two pipes:
// messages of JSON that end in a zero byte.
type browser struct {
	t   *testing.T
	cmd *exec.Cmd
	to  *os.File

	mu      sync.Mutex
	next    int
	replies map[int]chan reply
	events  map[string][]func(json.RawMessage) // by session and method
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// startBrowser skips the test where there is no Chromium.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	var exe string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			exe = p
			break
		}
	}
	if exe == "" {
		t.Skip("there is no chromium, which is needed to see the page as people do (Debian: apt-get install chromium)")
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, to: inW, replies: map[int]chan reply{}, events: map[string][]func(json.RawMessage){}}
	dir := t.TempDir()
	b.cmd = exec.Command(exe, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--user-data-dir="+dir,
		"--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
		"--hide-scrollbars", "--force-color-profile=srgb", "about:blank")
	b.cmd.ExtraFiles = []*os.File{inR, outW} // descriptors 3 and 4
	b.cmd.Env = append(os.Environ(), "HOME="+dir, "TZ=UTC")
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var log bytes.Buffer
	b.cmd.Stderr = &log
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inR.Close()
	outW.Close()
	go b.listen(outR)
	t.Cleanup(func() {
		_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL) // its helpers too
		_ = b.cmd.Wait()
		inW.Close()
		outR.Close()
		if t.Failed() && log.Len() > 0 {
			t.Logf("chromium: %.2000s", log.String())
		}
	})
	return b
}

func (b *browser) listen(from *os.File) {
	r := bufio.NewReader(from)
	for {
		m, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var v struct {
			ID        int
			SessionID string
			Method    string
			Params    json.RawMessage
			reply
		}
		if json.Unmarshal(m[:len(m)-1], &v) != nil {
			continue
		}
		b.mu.Lock()
		if c := b.replies[v.ID]; v.ID != 0 && c != nil {
			delete(b.replies, v.ID)
			c <- v.reply
		}
		list := b.events[v.SessionID+" "+v.Method]
		b.mu.Unlock()
		for _, f := range list {
			f(v.Params)
		}
	}
}

// browserTime is how long Chromium may take to answer on a busy machine.
const browserTime = 2 * time.Minute

func (b *browser) call(session, method string, params any, out any) {
	b.t.Helper()
	if err := b.try(session, method, params, out); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

func (b *browser) try(session, method string, params any, out any) error {
	b.mu.Lock()
	b.next++
	id, c := b.next, make(chan reply, 1)
	b.replies[id] = c
	m, err := json.Marshal(map[string]any{"id": id, "sessionId": session, "method": method, "params": params})
	if session == "" {
		m, err = json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	}
	if err == nil {
		_, err = b.to.Write(append(m, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case r := <-c:
		if r.Error != nil {
			return fmt.Errorf("%s", r.Error.Message)
		}
		if out != nil {
			return json.Unmarshal(r.Result, out)
		}
		return nil
	case <-time.After(browserTime):
		return context.DeadlineExceeded
	}
}

// tab is one page of a browser, with what it complained of.
type tab struct {
	*browser
	session string

	mu         sync.Mutex
	complaints []string
	requests   []string
}

type look struct {
	width, height int
	dark, phone   bool
	noScript      bool
	print         bool
}

func (b *browser) open(url string, l look) *tab {
	b.t.Helper()
	var target struct{ TargetID string }
	b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var at struct{ SessionID string }
	b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &at)
	p := &tab{browser: b, session: at.SessionID}
	p.on("Runtime.consoleAPICalled", func(m json.RawMessage) {
		var v struct {
			Type string
			Args []struct{ Value any }
		}
		if json.Unmarshal(m, &v) == nil && (v.Type == "error" || v.Type == "warning" || v.Type == "assert") {
			p.complain("console: %v", v.Args)
		}
	})
	p.on("Runtime.exceptionThrown", func(m json.RawMessage) { p.complain("exception: %s", m) })
	p.on("Log.entryAdded", func(m json.RawMessage) { p.complain("log: %s", m) })
	p.on("Page.javascriptDialogOpening", func(m json.RawMessage) { p.complain("dialog: %s", m) })
	p.on("Network.requestWillBeSent", func(m json.RawMessage) {
		var v struct{ Request struct{ URL string } }
		if json.Unmarshal(m, &v) == nil {
			p.mu.Lock()
			p.requests = append(p.requests, v.Request.URL)
			p.mu.Unlock()
		}
	})
	for _, m := range []string{"Page.enable", "Runtime.enable", "Log.enable", "Network.enable"} {
		p.do(m, map[string]any{})
	}
	p.look(l)
	if l.noScript {
		p.do("Emulation.setScriptExecutionDisabled", map[string]any{"value": true})
	}
	p.do("Page.navigate", map[string]any{"url": url})
	return p
}

// look changes how the page is seen.
func (p *tab) look(l look) {
	p.t.Helper()
	scheme, media := "light", ""
	if l.dark {
		scheme = "dark"
	}
	if l.print {
		media = "print"
	}
	p.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": l.width, "height": l.height, "deviceScaleFactor": 1, "mobile": l.phone})
	p.do("Emulation.setEmulatedMedia", map[string]any{"media": media, "features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}}})
}

func (p *tab) do(method string, params any) { p.t.Helper(); p.call(p.session, method, params, nil) }

func (p *tab) on(method string, f func(json.RawMessage)) {
	k := p.session + " " + method
	p.browser.mu.Lock()
	p.events[k] = append(p.events[k], f)
	p.browser.mu.Unlock()
}

func (p *tab) complain(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complaints = append(p.complaints, fmt.Sprintf(format, args...))
}

// quiet fails the test if the page complained of anything.
func (p *tab) quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.complaints {
		p.t.Errorf("the browser complains: %.600s", c)
	}
}

// eval is the value of an expression, which may be a promise.
func eval[T any](p *tab, expression string) (v T) {
	p.t.Helper()
	v, err := tryEval[T](p, expression)
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func tryEval[T any](p *tab, expression string) (v T, err error) {
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	err = p.try(p.session, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &r)
	if err != nil {
		return v, err
	}
	if e := r.ExceptionDetails; e != nil {
		return v, fmt.Errorf("%s %s", e.Text, e.Exception.Description)
	}
	if len(r.Result.Value) > 0 {
		err = json.Unmarshal(r.Result.Value, &v)
	}
	return v, err
}

// until waits for an expression to be true.
func (p *tab) until(what, expression string) {
	p.t.Helper()
	for end := time.Now().Add(browserTime); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if ok, err := tryEval[bool](p, "!!("+expression+")"); err == nil && ok {
			return
		}
	}
	text, _ := tryEval[string](p, "document.body.innerText")
	p.quiet()
	p.t.Fatalf("%s does not happen; the page reads:\n%.3000s", what, strings.TrimSpace(text))
}

// picture writes what the page looks like, all of it or what is in sight, in the
// format of the file's name.
func (p *tab) picture(file string, all bool) {
	p.t.Helper()
	params := map[string]any{"format": strings.TrimPrefix(filepath.Ext(file), "."), "captureBeyondViewport": all}
	if params["format"] != "png" {
		params["quality"] = 78
	}
	var r struct{ Data string }
	p.call(p.session, "Page.captureScreenshot", params, &r)
	b, err := base64.StdEncoding.DecodeString(r.Data)
	if err == nil {
		err = os.WriteFile(file, b, 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}
