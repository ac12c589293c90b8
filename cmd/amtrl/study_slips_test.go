package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// askedForLogs begins a study of logarithms and asks for 200 of them. It returns its folder, the labels by id, and the rows asked for.
func askedForLogs(t *testing.T) (dir string, logs map[string]string, asked [][]string) {
	dir = t.TempDir()
	writePrices(t, dir, testrand.New(t))
	manifestOf(t, dir, "dataset.yaml", "logs", "")
	logs = hideLabels(t, dir, 7)
	succeed(t, dir, "study", "new", "campaign", "--data", "dataset.yaml", "--round-budget", "200")
	succeed(t, dir, "study", "ask", "campaign", "--out", "ask.csv")
	return dir, logs, readTable(t, filepath.Join(dir, "ask.csv"))[1:]
}

// A number that lost its decimal point is reported when it is told and in the status, unless it is told as checked. If
// the row is told anew, the new label is judged like any other.
func TestSlipInAnswers(t *testing.T) {
	t.Parallel()
	dir, logs, asked := askedForLogs(t)
	tell := func(name, slipped string, more ...string) outcome {
		answers := "id,logs\n"
		for _, row := range asked {
			of := logs[row[0]]
			if row[0] == slipped {
				of = strings.Replace(of, ".", "", 1)
			}
			answers += row[0] + "," + of + "\n"
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(answers), 0o644))
		return succeed(t, dir, append([]string{"study", "tell", "campaign", name}, more...)...)
	}
	id := asked[3][0]
	tell("slip.csv", id).Complains(t, 0, "far from the other labels of their sources", " of row "+id+" of ", "--replace")
	status := func() string { return succeed(t, dir, "study", "status", "campaign").Stdout }
	must.Hold(t, strings.Contains(status(), "nothing was learned yet\nfar from the other labels") && strings.Contains(status(), id),
		"the status lacks %s: %s", id, status())
	checked := tell("slip.csv", id, "--checked")
	must.Hold(t, strings.Contains(checked.Stdout, "200 marked as checked") && checked.Stderr == "", "of checked labels: %s%s",
		checked.Stdout, checked.Stderr)
	must.Hold(t, !strings.Contains(status(), "far from"), "the status of checked labels: %s", status())
	must.Hold(t, strings.Contains(tell("slip.csv", id, "--checked").Stdout, "0 marked"), "what is checked is marked again")
	other := asked[5][0]
	tell("other.csv", other, "--replace").Complains(t, 0, "far from the other labels of their sources", " of row "+other+" of ")
	must.Hold(t, strings.Contains(status(), other), "the status lacks a label that replaced one that was checked: %s", status())
	succeed(t, dir, "study", "verify", "campaign")
	said := tell("right.csv", "", "--replace").Stderr
	must.Hold(t, !strings.Contains(said, "far from"), "of right labels: %s", said)
	must.Hold(t, !strings.Contains(status(), "far from"), "the status of right labels: %s", status())
}

// Answers in nM among logarithms are reported in one line when they are told, in the status and after a fit, until they are corrected.
func TestAnswersInAnotherUnit(t *testing.T) {
	t.Parallel()
	dir, logs, asked := askedForLogs(t)
	right, wrong := "id,logs\n", "id,logs\n"
	for i, row := range asked {
		y := must.Get(strconv.ParseFloat(logs[row[0]], 64))(t)
		right += fmt.Sprintf("%s,%g\n", row[0], y)
		if i%3 == 0 {
			y = math.Pow(10, 9-y)
		}
		wrong += fmt.Sprintf("%s,%g\n", row[0], y)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "wrong.csv"), []byte(wrong), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(dir, "right.csv"), []byte(right), 0o644))
	const says = " of 200 labels of logs that came together, those of "
	succeed(t, dir, "study", "tell", "campaign", "wrong.csv").Complains(t, 0, says, "far outside of the others", "--replace")
	succeed(t, dir, "study", "status", "campaign").Prints(t, 0, says)
	succeed(t, dir, "study", "fit", "campaign").Prints(t, 0, says)
	told := succeed(t, dir, "study", "tell", "campaign", "right.csv", "--replace")
	must.Hold(t, !strings.Contains(told.Stderr, "outside"), "of right labels: %s", told.Stderr)
	fit := succeed(t, dir, "study", "fit", "campaign")
	must.Hold(t, !strings.Contains(fit.Stdout, "far outside"), "of right labels: %s", fit.Stdout)
}
