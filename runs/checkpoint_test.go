package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/pipeline"
)

func someState() pipeline.State {
	return pipeline.State{
		Epochs: []pipeline.Epoch{{Method: pipeline.Active, Epoch: 1, Samples: 9, Drawn: 9, Cost: 9, Counts: []int{4, 5},
			Nu: []float64{0.1, -1e-300}, Score: pipeline.Score{Metric: pipeline.MetricError, Value: 0.25}}},
		Theta: []float32{1, -2, 3.5}, Head: []float32{0.25},
	}
}

func TestCheckpointRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "c.safetensors")
	st, err := (checkpoint{path: path, id: "id"}).load()
	if err != nil || len(st.Epochs) != 0 {
		t.Fatalf("no checkpoint: %+v, %v; want an empty state", st, err)
	}
	want := someState()
	must.Do(t, (checkpoint{path: path, id: "id"}).save(want))
	got, err := (checkpoint{path: path, id: "id"}).load()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("read %+v, %v; wrote %+v", got, err, want)
	}
	must.Fail(t, "a checkpoint of other work", must.Err((checkpoint{path: path, id: "other"}).load()), "other work")
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("saving left %d files, want 1", len(entries))
	}
}

// No byte of a checkpoint can change, and no tail can be lost, unnoticed.
func TestCheckpointDamageIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.safetensors")
	must.Do(t, (checkpoint{path: path, id: "id"}).save(someState()))
	raw := must.Get(os.ReadFile(path))(t)
	for i := range raw {
		if _, _, err := decodeCheckpoint(raw[:i], "id"); err == nil {
			t.Fatalf("cut to %d of %d bytes, it is read", i, len(raw))
		}
		if raw[i] == ' ' {
			continue // padding of the header
		}
		bad := append([]byte(nil), raw...)
		bad[i] ^= 1
		if _, _, err := decodeCheckpoint(bad, "id"); err == nil {
			t.Fatalf("with byte %d of %d changed, it is read", i, len(raw))
		}
	}
}

// Checkpoints, each with all records so far, are written after each of the first rounds, and then ever further apart, so that a run of many
// rounds is not slowed by the square of their number. A run that is interrupted between two of them ends in the same bytes.
func TestCheckpointsAreSpaced(t *testing.T) {
	long := spacing{first: 16, every: time.Hour, at: time.Now()}
	written := 0
	for n := 1; n <= 10000; n++ {
		if before := long.saved; long.due(n, 1e6) {
			written += n
			must.Hold(t, 16*(n-before-1) < max(n, 17), "none from %d rounds to %d", before, n)
		}
	}
	must.Hold(t, long.saved > 9000 && written < 20*10000, "the last of 10000 rounds is %d, %d records were written", long.saved, written)
	slow := spacing{first: 16, every: 0, saved: 99}
	must.Hold(t, slow.due(100, 1000), "none after a long time")

	defer func(was spacing) { runSpacing = was }(runSpacing)
	runSpacing.first = 16
	dev := openDevice(t, 1, smallSet(21, 5, 400, 8, true))
	cfg := smallConfig()
	cfg.Schedule.Epochs, cfg.ERM.Iterations = 30, 2
	id, clean := identityOf(dev, cfg, []string{"bytes_2"}, 5), t.TempDir()
	wrote := map[string]int{}
	full := 0 // the line of timing.jsonl at which the disk is full
	atomicfile.Intercept(t, func(op atomicfile.Op, path string) error {
		if op == atomicfile.OpRename {
			wrote[filepath.Base(path)]++
		}
		if op == atomicfile.OpCreate && filepath.Base(path) == "timing.jsonl" {
			if full--; full == 0 {
				return syscall.ENOSPC
			}
		}
		return nil
	})
	mustRun(t, dev, id, clean)
	must.Equal(t, wrote["epochs.jsonl"], 1, "epochs.jsonl written")
	n := wrote["epoch.safetensors"]
	must.Hold(t, n >= 16 && n < 31, "%d checkpoints of 31 rounds", n)
	want := foldertest.Read(t, clean)
	for _, done := range []int{17, 25, 30} {
		dir := t.TempDir()
		must.Fail(t, "an interruption", interrupted(t, dev, id, dir, func(s pipeline.Step) bool { return s.Record == nil && s.Done == done }))
		must.Absent(t, filepath.Join(dir, "epochs.jsonl"))
		rounds := 0
		must.Get(Run(context.Background(), dev, id, dir, func(s pipeline.Step) {
			if s.Record != nil {
				rounds++
			}
		}))(t)
		must.Equal(t, rounds, 31-done, "rounds after an interruption after %d", done)
		foldertest.Equal(t, fmt.Sprintf("interrupted after %d rounds", done), foldertest.Read(t, dir), want)
	}
	for _, full = range []int{18, 26} {
		dir, done := t.TempDir(), full-1
		must.Is(t, must.Err(Run(t.Context(), dev, id, dir, quiet)), syscall.ENOSPC, "a full disk")
		left := must.Get(os.ReadFile(filepath.Join(dir, checkpointDir, checkpointFile)))(t)
		st := must.Get(checkpoint{id: must.Get(id.Digest())(t)}.decode(left))(t)
		must.Equal(t, len(st.Epochs), done, "rounds of the checkpoint")
		mustRun(t, dev, id, dir)
		foldertest.Equal(t, "after a full disk", foldertest.Read(t, dir), want)
	}
}

func FuzzCheckpoint(f *testing.F) {
	path := filepath.Join(f.TempDir(), "c.safetensors")
	must.Do(f, (checkpoint{path: path, id: "id"}).save(someState()))
	raw := must.Get(os.ReadFile(path))(f)
	f.Add(raw)
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff{}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if st, _, err := decodeCheckpoint(raw, "id"); err == nil && !reflect.DeepEqual(st, someState()) {
			t.Errorf("accepted %+v", st)
		}
		tensors, meta, err := safetensors.Decode(raw)
		if err != nil {
			return
		}
		again := must.Get(safetensors.Encode(tensors, meta))(t)
		back, _, err := safetensors.Decode(again)
		if err != nil || len(back) != len(tensors) {
			t.Fatalf("does not survive a round trip: %v", err)
		}
	})
}

func FuzzConfig(f *testing.F) {
	for _, preset := range pipeline.Presets() {
		cfg := must.Get(pipeline.NewConfig(preset))(f)
		f.Add(must.Get(json.Marshal(Identity{Config: cfg, Targets: []string{"a_1"}, Seeds: []uint64{0}}))(f))
	}
	f.Add([]byte(`{"config":{"k":1e99}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		id, err := DecodeIdentity(raw)
		if err != nil {
			return
		}
		if err := id.Config.Validate(); err != nil {
			t.Errorf("accepted a configuration that is not valid: %v", err)
		}
		for _, p := range id.Config.Schedule.Plan([]float64{1, 2, 0.5}, id.Config.K, 10) {
			if p.Cost < 0 {
				t.Errorf("epoch %d would spend %g", p.Epoch, p.Cost)
			}
		}
	})
}
