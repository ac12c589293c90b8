package study_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func writeCSV(path string, rows [][]string) {
	file, err := os.Create(path)
	check(err)
	check(csv.NewWriter(file).WriteAll(rows))
	check(file.Close())
}

// writeShops writes 100 rows of each of four shops, with labels for 20 rows of the new shop alone, and returns the labels of all rows.
func writeShops(dir string) map[string]string {
	rng := rand.New(rand.NewPCG(1, 2))
	truth := map[string]string{}
	rows := [][]string{{"id", "shop", "mood", "x0", "x1", "x2"}}
	for _, shop := range []string{"books", "shoes", "tools", "new"} {
		for i := range 100 {
			id, mood := shop+strconv.Itoa(i), []string{"bad", "good"}[i%2]
			truth[id] = mood
			row := []string{id, shop, "", "", "", ""}
			if shop == "new" && i < 20 {
				row[2] = mood
			}
			for j := range 3 {
				row[3+j] = strconv.FormatFloat(2*float64(i%2)+rng.NormFloat64(), 'f', 3, 64)
			}
			rows = append(rows, row)
		}
	}
	writeCSV(filepath.Join(dir, "rows.csv"), rows)
	return truth
}

// A campaign in one process: data on disk whose sources have no labels, rounds of asking and telling, and known labels that answer where
// people would. The journal in the folder of the study keeps what was asked and told, so that each step may as well be a process of its
// own, which begins with Open and Attach.
func Example() {
	blas64.Use(cpu.BLAS{}) // the products of the command, which are several times as fast as gonum's own
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "campaign")
	check(err)
	defer os.RemoveAll(dir)
	truth := writeShops(dir)
	text := "files: rows.csv\ncolumns: {id: id, source: shop, features: x*}\n" +
		"labels: [{column: mood, classes: [bad, good]}]\ntarget: {source: new}\n"
	m, err := manifest.Parse(filepath.Join(dir, "dataset.yaml"), []byte(text))
	check(err)
	folder := filepath.Join(dir, "data")
	check(columnar.Import(ctx, m, folder, nil))

	data, err := columnar.OpenCandidates(folder, "", 0)
	check(err)
	cfg, err := pipeline.NewConfig(pipeline.PresetDefault)
	check(err)
	settings, _ := study.NewSettings("my program 1", folder, data, 30, cfg) // each ask may cost 30, and a row costs 1
	check(study.Create(filepath.Join(dir, "study"), settings, folder, data))

	s, err := study.Open(filepath.Join(dir, "study"))
	check(err)
	check(s.Attach(folder))
	for round := range 2 {
		ask, err := s.Ask(ctx, study.Request{Key: fmt.Sprint("round ", round)})
		check(err)
		var answers []study.Answer
		for _, r := range ask.Rows {
			answers = append(answers, study.Answer{ID: r.ID, Labels: map[string]string{"mood": truth[r.ID]}})
		}
		told, err := s.TellAnswers(ctx, answers, study.TellOptions{})
		check(err)
		n, err := s.Learn(ctx, func() (backend.Device, error) { return cpu.Open(0) })
		check(err)
		fmt.Printf("round %d learned from %d more labels\n", n, told.Labels)
	}
	st, err := s.Status()
	check(err)
	fmt.Printf("spent %g; %d rounds\n", st.Spent, st.Rounds)

	device, err := cpu.Open(0)
	check(err)
	defer device.Close()
	queue, err := device.NewQueue()
	check(err)
	last, err := s.LatestRound()
	check(err)
	model, columns, err := runs.OpenPredictor(queue, last)
	check(err)
	defer model.Close()
	labels, err := runs.PredictLabels(model, columns, &dataset.Pool{Rows: 1, Cols: 3, Scale: 1, F32: []float32{2.5, 1.5, 2}})
	check(err)
	fmt.Println("a new row is", columns[0].Classes[labels[0].Class[0]])
	// Output:
	// round 1 learned from 30 more labels
	// round 2 learned from 30 more labels
	// spent 60; 2 rounds
	// a new row is good
}
