//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
)

// Where the supervisor is told to end, as when the machine shuts down, its tasks save, and those without a result are lost, whether they
// ran or waited, with a reason. A retry goes on with them.
func TestEndOfTheSupervisor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ended(t, dir, "run")
	succeed(t, dir, long("submit", "run", "--targets", "fog_[01]", "--epochs", "64", "--iterations", "500", "--parallel", "1", "--quiet")...)
	middle(t, dir, "run", 0, 1)
	var supervisor struct{ PID int }
	files := must.Get(filepath.Glob(filepath.Join(dir, "run/submit/*.local")))(t)
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(files[0]))(t), &supervisor))
	must.Do(t, syscall.Kill(supervisor.PID, syscall.SIGTERM))
	var status string
	for end := time.Now().Add(time.Minute); !strings.Contains(status, "2 tasks: 2 lost"); time.Sleep(50 * time.Millisecond) {
		must.Hold(t, time.Now().Before(end), "expected two lost tasks: %s", status)
		status = amtrl(t, dir, "status", "run").Stdout
	}
	must.Equal(t, strings.Count(status, "its supervisor was ended before it had a result"), 2, "reasons in %s", status)
	before := amtrltest.Count(attempts(t, dir, "run", 0), "epoch")
	succeed(t, dir, "retry", "run", "--failed", "--quiet")
	middle(t, dir, "run", 0, before+1)
	must.Equal(t, amtrltest.Count(attempts(t, dir, "run", 0), "start"), 2, "attempts")
	succeed(t, dir, "cancel", "run")
}
