package study

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/lease"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// An event is written only while the lock is held, and otherwise nothing is.
func TestWriteNeedsTheLock(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	held := must.Get(f.lock(t.Context(), f.Dir))(t)
	defer held.Release()
	j, path := must.Get(f.read())(t), filepath.Join(f.Dir, "lease")
	mine := must.Get(os.ReadFile(path))(t)
	must.Do(t, atomicfile.Write(path, []byte(`{"nonce":"x","host":"far","boot":"another","pid":7,"attempt":0,"beat":1}`)))
	event := Event{Tell: &TellEvent{Rows: []TellRows{{"a", []int32{0}, [][]string{{"no"}}}}}}
	must.Is(t, f.write(held, j, event), lease.ErrLost, "a lock that another machine took over")
	must.Absent(t, filepath.Join(f.Dir, journalFile))
	must.Do(t, atomicfile.Write(path, mine))
	must.Do(t, f.write(held, j, event))
	must.Equal(t, must.Get(f.Status())(t).Answered, 1, "answered rows")
}
