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

// The tasks of a part are queued while its supervisor holds the lock, and lost afterwards, with a reason. A lock taken by another query
// does not count as the supervisor's.
func TestQueryLooksAtTheLock(t *testing.T) {
	e := &engine{t.TempDir()}
	must.Do(t, os.Mkdir(filepath.Join(e.dir, batch.SubmitDir), 0o755))
	job := batch.Job{Part: batch.Part{Key: "0123456789ab-1-0", Tasks: batch.Tasks{0, 1}}}
	must.Do(t, jsonfile.Write(e.path(job.Key, "local"), supervisor{"here", lease.BootID(), 1}))
	states := func(want batch.State) {
		t.Helper()
		list := must.Get(e.Query(t.Context(), []batch.Job{job}))(t)
		must.Equal(t, len(list), 2, "tasks")
		for _, o := range list {
			if o.State != want || (o.Reason == "") != (want == batch.Queued) {
				t.Errorf("expected %s, found %+v", want, o)
			}
		}
	}
	lock := e.path(job.Key, "lock")
	unlock := must.Get(filelock.File(lock))(t)
	states(batch.Queued)
	unlock()
	states(batch.Lost)
	other := must.Get(os.Open(lock))(t) // as another query opens it
	defer other.Close()
	must.Do(t, syscall.Flock(int(other.Fd()), syscall.LOCK_SH))
	states(batch.Lost)
}
