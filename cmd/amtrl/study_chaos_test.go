package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/runs/study"
)

// chaos records what four processes at a time, which are killed at random, learn while they ask and tell one study.
type chaos struct {
	*campaign
	mu sync.Mutex
	// asked holds the ids of asks whose output was seen, told the labels whose tells were acknowledged.
	asked []string
	told  map[string]string
	skips map[string]bool
	kills int
}

// Four processes at a time ask and tell one study in random order, repeat commands, give wrong answers and are killed
// at random. No row is asked for while it is pending or answered, no acknowledged label is lost, and replaying the
// journal gives the same files. AMTRL_CHAOS is the number of commands per worker; make chaos sets 200.
func TestStudyChaos(t *testing.T) {
	rounds := 8
	if text := os.Getenv("AMTRL_CHAOS"); text != "" {
		rounds = must.Get(strconv.Atoi(text))(t)
	}
	rng := testrand.New(t)
	c := &chaos{
		campaign: newCampaign(t, rng, false, func(s string, i int) bool { return s == "zoo" && i < 15 }),
		told:     map[string]string{}, skips: map[string]bool{},
	}
	succeed(t, c.dir, "study", "new", "S", "--data", "bare.yaml", "--round-budget", "6", "--k", "4")
	var all sync.WaitGroup
	for worker := range 4 {
		own := rand.New(rand.NewPCG(rng.Uint64(), uint64(worker)))
		all.Go(func() {
			for i := range rounds {
				c.act(t, own, fmt.Sprintf("%d-%d", worker, i))
			}
		})
	}
	all.Wait()
	st := amtrltest.JSON[study.Status](t, succeed(t, c.dir, "study", "status", "S", "--json"))
	c.check(t, &st)
	fit := amtrl(t, c.dir, "study", "fit", "S", "--quiet")
	succeed(t, c.dir, "study", "verify", "S")
	t.Logf("%d events, %d asks, %d rounds and %d kills; the last fit ended with %d", st.Events, st.Asks, st.Rounds, c.kills, fit.Code)
}

// act runs one random command, which may be killed.
func (c *chaos) act(t *testing.T, rng *rand.Rand, name string) {
	c.mu.Lock()
	open := slices.DeleteFunc(slices.Clone(c.asked), func(id string) bool { _, is := c.told[id]; return is || c.skips[id] })
	answered := slices.Sorted(maps.Keys(c.told))
	c.mu.Unlock()
	some := func(list []string, most int) []string {
		list = slices.Clone(list)
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list[:min(len(list), 1+rng.IntN(most))]
	}
	rows := map[string]string{}
	skips := map[string]bool{}
	code := []int{0}
	var args []string
	switch n := rng.IntN(11); {
	case n == 10:
		args, code = []string{"fit", "S", "--quiet"}, []int{0, 1}
	case n < 4 || len(open) == 0:
		args = []string{"ask", "S", "--out", name + ".csv", "--quiet"}
		repeats, expires := rng.IntN(2) == 0, rng.IntN(3) == 0
		if repeats {
			args = append(args, "--request", "r"+strconv.Itoa(rng.IntN(20)))
		}
		if expires {
			args = append(args, "--expires", "1s")
		}
		code = []int{0, 1, 3}
		if repeats && expires { // the request may have been made without an expiry
			code = append(code, 4)
		}
	case n == 4 && len(answered) > 0: // a contradiction beside right answers
		for _, id := range some(open, 3) {
			rows[id] = c.labels[id][0]
		}
		id := answered[rng.IntN(len(answered))]
		rows[id], code = map[string]string{"bad": "good", "fair": "bad", "good": "fair"}[c.labels[id][0]], []int{4}
	case n == 5: // answers that were given before, and answers that nobody asked for
		for _, id := range append(some(answered, 5), some(slices.Sorted(maps.Keys(c.labels)), 2)...) {
			rows[id] = c.labels[id][0]
		}
		code = []int{0}
	case n == 6:
		for _, id := range some(open, 2) {
			skips[id] = true
		}
		code = []int{0, 4} // another process may have answered them
	default:
		for _, id := range some(open, 12) {
			rows[id] = c.labels[id][0]
		}
	}
	if args == nil {
		var text strings.Builder
		text.WriteString("id,label,status\n")
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			fmt.Fprintf(&text, "%s,%s,\n", id, rows[id])
		}
		for _, id := range slices.Sorted(maps.Keys(skips)) {
			fmt.Fprintf(&text, "%s,,skip\n", id)
		}
		must.Do(t, os.WriteFile(filepath.Join(c.dir, name+"-answers.csv"), []byte(text.String()), 0o644))
		args = []string{"tell", "S", name + "-answers.csv"}
	}
	cmd := command(c.dir, append([]string{"study"}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	must.Do(t, cmd.Start())
	killed := false
	if rng.IntN(3) == 0 {
		time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
		killed = cmd.Process.Kill() == nil
	}
	err := cmd.Wait()
	found := cmd.ProcessState.ExitCode()
	if found == -1 && killed {
		c.mu.Lock()
		c.kills++
		c.mu.Unlock()
		return
	}
	if _, is := err.(*exec.ExitError); err != nil && !is || !slices.Contains(code, found) ||
		(found == 1 || found == 3) && !strings.Contains(out.String(), "nothing to ask") &&
			!strings.Contains(out.String(), "to learn from: amtrl study ask") ||
		found == 4 && args[0] == "ask" && !strings.Contains(out.String(), "was made without an expiry") {
		t.Errorf("%v: %v, expected exit code %v:\n%s", cmd.Args, err, code, out.String())
	}
	if found != 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if args[0] == "ask" {
		c.asked = append(c.asked, ids(c.read(t, name+".csv"))...)
	}
	for id, label := range rows {
		c.told[id] = label
	}
	maps.Copy(c.skips, skips)
}

// check replays the journal on its own and compares the outcome with the status and with what was acknowledged.
func (c *chaos) check(t *testing.T, st *study.Status) {
	t.Helper()
	set := c.rowsOf(t)
	status, asks := map[string]string{}, map[int][]string{}
	where := func(source string, rows []int32) (out []string) {
		for _, i := range rows {
			out = append(out, set[source][i])
		}
		return out
	}
	n := 0
	for line := range strings.Lines(string(must.Get(os.ReadFile(filepath.Join(c.dir, "S", "journal.jsonl")))(t))) {
		n++
		var e study.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		switch {
		case e.Ask != nil:
			for _, g := range e.Ask.Rows {
				for _, id := range where(g.Source, g.Rows) {
					if now := status[id]; now != "" {
						t.Errorf("line %d: %s is asked for, and is %s", n, id, now)
					}
					status[id] = "pending"
					asks[e.Ask.Number] = append(asks[e.Ask.Number], id)
				}
			}
		case e.Tell != nil:
			for _, g := range e.Tell.Rows {
				for i, id := range where(g.Source, g.Rows) {
					status[id] = "answered"
					if g.Labels[0][i] != c.labels[id][0] {
						t.Errorf("line %d: %s is %s, expected %s", n, id, g.Labels[0][i], c.labels[id][0])
					}
				}
			}
			for _, g := range e.Tell.Skips {
				for _, id := range where(g.Source, g.Rows) {
					status[id] = "skipped"
				}
			}
		case e.Expire != nil:
			for _, number := range e.Expire.Asks {
				for _, id := range asks[number] {
					if status[id] == "pending" && !askedLater(asks, number, id) {
						status[id] = ""
					}
				}
			}
		}
	}
	counts := map[string]int{}
	for _, s := range status {
		counts[s]++
	}
	if counts["answered"] != st.Answered || counts["pending"] != st.Pending || counts["skipped"] != st.Skipped || n != st.Events {
		t.Errorf("the journal has %v in %d events, the status is %+v", counts, n, st)
	}
	spent := 0.0
	for _, s := range st.Sources {
		if !s.Target {
			spent += s.Cost * float64(s.Answered+s.Pending)
		}
	}
	if spent != st.Spent {
		t.Errorf("spent %g, expected %g, answered and pending", st.Spent, spent)
	}
	known := map[string]bool{} // rows whose labels are in the data are not told
	for i := range 15 {
		known[fmt.Sprintf("zoo/%d", i)] = true
	}
	for id := range c.told {
		if status[id] != "answered" && !known[id] {
			t.Errorf("the label of %s was acknowledged, and it is %q", id, status[id])
		}
	}
	for id := range c.skips {
		if status[id] != "skipped" && status[id] != "answered" {
			t.Errorf("%s was given up, and it is %q", id, status[id])
		}
	}
}

// askedLater reports whether the row id is in an ask with a number above number.
func askedLater(asks map[int][]string, number int, id string) bool {
	for n, list := range asks {
		if n > number && slices.Contains(list, id) {
			return true
		}
	}
	return false
}

// rowsOf returns the ids of each source's rows, in the order of the data.
func (c *chaos) rowsOf(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, r := range c.read(t, "full.csv") {
		out[r["shop"]] = append(out[r["shop"]], r["id"])
	}
	return out
}
