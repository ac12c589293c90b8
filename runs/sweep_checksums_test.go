package runs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A bit of another value in the summary is found by who reads it, and one in the result of a unit by the sweep, finished or not. The sweep
// then writes the file anew.
func TestSweepFilesHaveChecksums(t *testing.T) {
	dev, id := smallSweep(t)
	id.Targets, id.Seeds = id.Targets[:1], id.Seeds[:1]
	dir, rng := t.TempDir(), testrand.New(t)
	mustSweep(t, dev, id, dir, 1)
	want := foldertest.Read(t, dir)
	flip := func(name string) { // a digit of a score, so that the file can still be read
		raw := []byte(want[name])
		at := strings.Index(want[name], `"value": 0.`) + len(`"value": 0.`) + 1 + rng.IntN(8)
		raw[at] = '0' + (raw[at]-'0')%9 + 1 // never the same
		must.Do(t, os.WriteFile(filepath.Join(dir, name), raw, 0o644))
	}
	flip("summary.json")
	_, _, err := ReadSweep(dir)
	must.Fail(t, "a summary", err, filepath.Join(dir, "summary.json")+": expected the checksum ", "the command of the sweep mends it")
	mustSweep(t, dev, id, dir, 1)
	foldertest.Equal(t, "a summary that is mended", foldertest.Read(t, dir), want)

	unit := filepath.Join("results", id.Units()[1].Name()+".json")
	for _, finished := range []bool{true, false} {
		flip(unit)
		if !finished {
			must.Do(t, os.Remove(filepath.Join(dir, "summary.json")))
		}
		mustSweep(t, dev, id, dir, 1)
		foldertest.Equal(t, "a result that is computed again", foldertest.Read(t, dir), want)
	}
}
