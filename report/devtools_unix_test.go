//go:build unix

package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/must"
)

// browser is a headless browser that is controlled through pipes by the DevTools protocol: JSON messages, each followed by a zero byte.
type browser struct {
	t       *testing.T
	to      io.Writer
	from    *bufio.Reader
	session string
	calls   int
	// events holds the events of the page since it was opened.
	events []event
}

// event is a message of the browser. Answers have an ID.
type event struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// openBrowser starts the browser. Where there is none it skips the test, or fails it if AMTRL_REQUIRE_CHROMIUM is set.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		if os.Getenv("AMTRL_REQUIRE_CHROMIUM") != "" {
			t.Fatal("no chromium in PATH: expected one, as AMTRL_REQUIRE_CHROMIUM is set")
		}
		t.Skip("no chromium in PATH: pages are not opened in a browser")
	}
	profile := must.Get(os.MkdirTemp("", "amtrl-browser-"))(t)
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
		"--user-data-dir="+profile)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, to := must.Get2(os.Pipe())(t)
	from, out := must.Get2(os.Pipe())(t)
	cmd.ExtraFiles = []*os.File{in, out} // descriptors 3 and 4
	must.Do(t, cmd.Start())
	in.Close()
	out.Close()
	patience := time.AfterFunc(3*time.Minute, func() { cmd.Process.Kill() })
	b := &browser{t: t, to: to, from: bufio.NewReaderSize(from, 1<<20)}
	t.Cleanup(func() {
		patience.Stop()
		to.Close()
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		from.Close()
		for range 50 { // its other processes may take a moment to end, and write until then
			if os.RemoveAll(profile) == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call calls a method of the browser, waits for the answer and decodes it into result.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.calls++
	message := map[string]any{"id": b.calls, "method": method}
	if params != nil {
		message["params"] = params
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	js := must.Get(json.Marshal(message))(b.t)
	must.Get(b.to.Write(append(js, 0)))(b.t)
	for {
		e := b.read()
		if e.ID != b.calls {
			continue
		}
		if e.Error != nil {
			b.t.Fatalf("%s: %s", method, e.Error)
		}
		if result != nil {
			must.Do(b.t, json.Unmarshal(e.Result, result))
		}
		return
	}
}

// read returns the next message, and keeps it if it is an event.
func (b *browser) read() event {
	b.t.Helper()
	raw, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser is gone: %v", err)
	}
	var e event
	must.Do(b.t, json.Unmarshal(bytes.TrimSuffix(raw, []byte{0}), &e))
	if e.ID == 0 {
		b.events = append(b.events, e)
	}
	return e
}

// open shows a page at a width, light or dark, and waits until it is loaded.
func (b *browser) open(url string, width int, dark bool) {
	b.t.Helper()
	screen := map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
	b.call("Emulation.setDeviceMetricsOverride", screen, nil)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	feature := map[string]any{"name": "prefers-color-scheme", "value": scheme}
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{feature}}, nil)
	b.events = nil
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	loaded := func() bool {
		for _, e := range b.events {
			if e.Method == "Page.loadEventFired" {
				return true
			}
		}
		return false
	}
	for !loaded() {
		b.read()
	}
}

// evaluate runs a script in the page and decodes what it returns.
func (b *browser) evaluate(script string, result any) {
	b.t.Helper()
	var out struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true}, &out)
	if out.ExceptionDetails != nil {
		b.t.Fatalf("%.200s: %s", script, out.ExceptionDetails)
	}
	if result != nil {
		must.Do(b.t, json.Unmarshal(out.Result.Value, result))
	}
}

// complaints returns the errors of scripts, what the policy of the page refused, and requests for anything but the page itself.
func (b *browser) complaints(url string) []string {
	var out []string
	for _, e := range b.events {
		var p struct {
			Entry   struct{ Level, Text string }
			Request struct{ URL string }
			Type    string
		}
		if e.Method == "Runtime.consoleAPICalled" {
			out = append(out, fmt.Sprintf("%s: %.300s", e.Method, e.Params))
			continue
		}
		if json.Unmarshal(e.Params, &p) != nil {
			continue
		}
		switch {
		case e.Method == "Runtime.exceptionThrown",
			e.Method == "Log.entryAdded" && p.Entry.Level != "info" && p.Entry.Level != "verbose",
			e.Method == "Network.requestWillBeSent" && p.Request.URL != url && p.Request.URL != "data:,":
			out = append(out, fmt.Sprintf("%s: %.300s", e.Method, e.Params))
		}
	}
	return out
}
