package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/lease"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// Of processes that learn at the same time one learns the round, and the others get an error which says that nothing is new.
func TestLearnOnce(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	must.Fail(t, "without labels", must.Err(f.Learn(t.Context(), openCPU)), "found 0 labelled rows of sources")
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	must.Get(f.Tell(t.Context(), f.answerAll(t, "all.csv", a), TellOptions{}))(t)
	results := make(chan error)
	for range 3 {
		s := f.open(t, f.Dir)
		go func() { _, err := s.Learn(context.Background(), openCPU); results <- err }()
	}
	learned := 0
	for range 3 {
		if err := <-results; err == nil {
			learned++
		} else if !errors.Is(err, ErrNothingNew) {
			t.Error(err)
		}
	}
	if learned != 1 {
		t.Errorf("%d of 3 learned the round, expected one", learned)
	}
}

// Labels of the target alone are nothing to learn from, but an ask still asks for rows.
func TestAskWithoutSourceLabels(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	lines := []string{"id,label,status", "t30,yes,"}
	for _, r := range a.Rows {
		lines = append(lines, r.ID+",,skip")
	}
	if told := must.Get(f.Tell(t.Context(), f.answers(t, "skips.csv", lines...), TellOptions{}))(t); told.Skipped != 9 || told.Unasked != 1 {
		t.Errorf("it told %+v", told)
	}
	learn := func(ctx context.Context) error { _, err := f.Learn(ctx, openCPU); return err }
	b := must.Get(f.Ask(t.Context(), Request{Learn: learn}))(t)
	for _, r := range b.Rows {
		if slices.ContainsFunc(a.Rows, func(x AskedRow) bool { return x.ID == r.ID }) {
			t.Errorf("%s was given up, and is asked for", r.ID)
		}
	}
	if len(b.Rows) != 9 {
		t.Errorf("%d rows, expected 9", len(b.Rows))
	}
}

// A machine that died during a command leaves a lease, which is taken over once it does not change any more. A machine that is alive is
// waited for.
func TestAnotherMachine(t *testing.T) {
	for !anotherMachine(t) {
		t.Log("the other machine was held up too long to count as alive: once more")
	}
}

// anotherMachine makes the checks of TestAnotherMachine. It returns false where the stand-in for another machine did not write in time, so
// that nothing was shown.
func anotherMachine(t *testing.T) bool {
	f := newFixture(t, testrand.New(t))
	f.times = lease.Timing{Beat: 10 * time.Millisecond, Stale: 400 * time.Millisecond, Settle: 10 * time.Millisecond}
	path := filepath.Join(f.Dir, "lease")
	beat := func(n int) {
		must.Do(t, atomicfile.Write(path, fmt.Appendf(nil, `{"nonce":"x","host":"far","boot":"another","pid":7,"attempt":0,"beat":%d}`, n)))
	}
	beat(1)
	if a := must.Get(f.Ask(t.Context(), Request{Budget: 3}))(t); len(a.Rows) != 3 {
		t.Errorf("%d rows after a machine died", len(a.Rows))
	}
	stop, longest := make(chan struct{}), make(chan time.Duration)
	beat(2)
	go func() {
		last, worst := time.Now(), time.Duration(0)
		for n := 3; ; n++ {
			select {
			case <-stop:
				longest <- worst
				return
			case <-time.After(5 * time.Millisecond):
				beat(n)
				worst, last = max(worst, time.Since(last)), time.Now()
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := f.Ask(ctx, Request{Budget: 3})
	close(stop)
	if <-longest > f.times.Stale/2 {
		return false
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while another machine has the study: %v", err)
	}
	if st := must.Get(f.Status())(t); st.Asks != 1 {
		t.Errorf("%d asks, expected 1", st.Asks)
	}
	if a := must.Get(f.Ask(t.Context(), Request{Budget: 3}))(t); a.Number != 2 {
		t.Errorf("ask %d, expected 2", a.Number)
	}
	return true
}

// A round that another machine learns while this one is stopped is not written over.
func TestRoundOfAnother(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	must.Get(f.Tell(t.Context(), f.answerAll(t, "all.csv", a), TellOptions{}))(t)
	theirs := filepath.Join(f.Dir, roundsDir, "lease")
	_, err := f.Learn(t.Context(), func() (backend.Device, error) {
		must.Do(t, atomicfile.Write(theirs, []byte(`{"nonce":"x","host":"far","boot":"another","pid":7,"attempt":0,"beat":1}`)))
		return openCPU()
	})
	must.Is(t, err, lease.ErrLost, "a round that another machine learns")
	must.Absent(t, f.RoundDir(1))
	must.Do(t, os.Remove(theirs))

	other := f.open(t, f.Dir)
	_, err = f.Learn(t.Context(), func() (backend.Device, error) {
		held := must.Get(other.lock(t.Context(), other.Dir))(t)
		defer held.Release()
		j := must.Get(other.read())(t)
		e := &FitEvent{Round: 1, Upto: len(j.events), Backend: "other"}
		e.Files = must.Get(runs.WriteFiles(other.RoundDir(1), []runs.File{{Name: runs.ScoreFile, Content: []byte("theirs")}}))(t)
		must.Do(t, other.write(held, j, Event{Fit: e}))
		return openCPU()
	})
	must.Is(t, err, lease.ErrLost, "a round that another machine learned")
	if raw := must.Get(os.ReadFile(filepath.Join(f.RoundDir(1), runs.ScoreFile)))(t); string(raw) != "theirs" {
		t.Errorf("it was written over: %s", raw)
	}
}

// A class that no labelled row of the target has is learned from the sources' answers. Once the target has samples of it, they count.
func TestLearnUnseenClass(t *testing.T) {
	f := newFixtureOf(t, testrand.New(t), 9, func(source string, i int) (bool, bool) { return source == "t" && i < 24 && i%2 == 1, false })
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	must.Get(f.Tell(t.Context(), f.answerAll(t, "all.csv", a), TellOptions{}))(t)
	for round := 1; round <= 2; round++ {
		must.Get(f.Learn(t.Context(), openCPU))(t)
		q, err := must.Get(openCPU())(t).NewQueue()
		must.Do(t, err)
		model, columns, err := runs.OpenPredictor(q, f.RoundDir(round))
		must.Do(t, err)
		if model.C != 2 || columns[0].Heads != 2 || !slices.Equal(columns[0].Classes, []string{"no", "yes"}) {
			t.Errorf("round %d: %d outputs of %+v", round, model.C, columns)
		}
		must.Get(f.Tell(t.Context(), f.answers(t, "more.csv", "id,label", "t30,no", "t32,no"), TellOptions{}))(t)
	}
	p := must.Get(f.problem(2))(t)
	_, _, st, err := f.load()
	must.Do(t, err)
	seen := 0
	in := st.samples(p, 2).Target
	for i := range in.Rows {
		if in.Y[2*i] == 1 && in.Y[2*i+1] == 0 {
			seen++
		}
	}
	must.Hold(t, seen == 2, "%d samples of the target have the class, expected 2", seen)
}

// A round goes on from a state whose head has another length, as of earlier versions, which had no output for an unseen class.
func TestStateOfOtherOutputs(t *testing.T) {
	f := newFixtureOf(t, testrand.New(t), 9, func(source string, i int) (bool, bool) { return source == "t" && i < 24 && i%2 == 1, false })
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	must.Get(f.Tell(t.Context(), f.answerAll(t, "all.csv", a), TellOptions{}))(t)
	must.Get(f.Learn(t.Context(), openCPU))(t)
	_, _, st, err := f.load()
	must.Do(t, err)
	device := must.Get(openCPU())(t)
	defer device.Close()
	data := must.Get(pipeline.NewResident(device, f.data.Set))(t)
	defer data.Close()
	p, before := must.Get(f.problem(2))(t), must.Get(f.loadRound(1))(t)
	l := must.Get(pipeline.NewLearner(data, p))(t)
	defer l.Close()
	in := st.samples(p, 2)
	want := must.Get(l.Learn(t.Context(), before, in))(t)
	before.Head = before.Head[:len(before.Head)/2]
	got := must.Get(l.Learn(t.Context(), before, in))(t)
	must.Hold(t, slices.Equal(got.Head, want.Head) && slices.Equal(got.Theta, want.Theta), "the round is not what it was")
}
