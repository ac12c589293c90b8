//go:build unix

package local

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/filelock"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/lease"
	"github.com/amtrl/amtrl/internal/must"
)

// The tasks of a part are queued while its supervisor holds the lock, and a lock taken by another query does not count
// as the supervisor's.
func TestQueryLooksAtTheLock(t *testing.T) {
	e := &engine{t.TempDir()}
	must.Do(t, os.Mkdir(filepath.Join(e.dir, batch.SubmitDir), 0o755))
	job := batch.Job{Part: batch.Part{Key: "0123456789ab-1-0", Tasks: batch.Tasks{0, 1}}}
	must.Do(t, jsonfile.Write(e.path(job.Key, "local"), supervisor{"here", lease.BootID(), 1}))
	queued := func(want int) {
		t.Helper()
		if list := must.Get(e.Query(t.Context(), []batch.Job{job}))(t); len(list) != want {
			t.Errorf("expected %d tasks that wait, found %v", want, list)
		}
	}
	lock := e.path(job.Key, "lock")
	unlock := must.Get(filelock.File(lock))(t)
	queued(2)
	unlock()
	queued(0)
	other := must.Get(os.Open(lock))(t) // as another query opens it
	defer other.Close()
	must.Do(t, syscall.Flock(int(other.Fd()), syscall.LOCK_SH))
	queued(0)
}
