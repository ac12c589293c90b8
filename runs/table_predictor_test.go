package runs

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// content returns random rows for the model of smallModel in a format, with words, missing cells and columns that it does not read.
func content(rng *rand.Rand, format string) []byte {
	columns := []string{"k", "other", "y", "id", "x", "z"}
	rng.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
	cell := func(column string) string {
		switch column {
		case "k":
			return []string{"a", "b", "c", ""}[rng.IntN(4)]
		case "x", "y":
			return []string{"", fmt.Sprintf("%.3f", rng.NormFloat64())}[rng.IntN(2)]
		}
		return fmt.Sprint(column, rng.IntN(10))
	}
	var lines []string
	if format == "csv" {
		lines = append(lines, strings.Join(columns, ","))
	}
	for range 1 + rng.IntN(40) {
		var cells []string
		for _, c := range columns {
			is := cell(c)
			switch _, noNumber := strconv.ParseFloat(is, 64); {
			case format == "csv":
				cells = append(cells, is)
			case is == "":
				cells = append(cells, fmt.Sprintf("%q:null", c))
			case noNumber == nil:
				cells = append(cells, fmt.Sprintf("%q:%s", c, is))
			default:
				cells = append(cells, fmt.Sprintf("%q:%q", c, is))
			}
		}
		if format == "csv" {
			lines = append(lines, strings.Join(cells, ","))
		} else {
			lines = append(lines, "{"+strings.Join(cells, ",")+"}")
		}
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// Rows in memory have the predictions that Predict writes for the same rows in a file, from any number of goroutines.
func TestTablePredictor(t *testing.T) {
	rng, dir := testrand.New(t), smallModel(t)
	q := pipelinetest.NewQueue(t, pipelinetest.OpenCPU(t, 1).Device())
	p := must.Get(OpenTablePredictor(q, dir, ""))(t)
	defer p.Close()
	must.Equal(t, p.Columns[0].Column, "z", "the column of labels")
	var work sync.WaitGroup
	for i := range 30 {
		format := []string{"csv", "jsonl"}[i%2]
		rows, path := content(rng, format), filepath.Join(t.TempDir(), "rows."+format)
		must.Do(t, os.WriteFile(path, rows, 0o644))
		var written bytes.Buffer
		must.Get(Predict(t.Context(), q, Prediction{Dir: dir, Files: []string{path}, To: &written}, nil))(t)
		want := must.Get(csv.NewReader(&written).ReadAll())(t)[1:]
		work.Go(func() {
			got, err := p.Predict(format, rows)
			if err != nil || len(got) != 1 || len(got[0].Numbers) != len(want) {
				t.Errorf("%s: %v of %d rows: %v", rows, got, len(want), err)
				return
			}
			for k, v := range got[0].Numbers {
				if fmt.Sprint(v) != want[k][1] {
					t.Errorf("row %d of %s: %g, expected %s", k, rows, v, want[k][1])
				}
			}
		})
	}
	work.Wait()
}

// What is odd about rows in memory is told as it is of files, and what is wrong with them is an error.
func TestTablePredictorOddRows(t *testing.T) {
	dir, said := smallModel(t), ""
	q := pipelinetest.NewQueue(t, pipelinetest.OpenCPU(t, 1).Device())
	p := must.Get(OpenTablePredictor(q, dir, ""))(t)
	p.Filled = func(column string, cells, rows int64) { said += fmt.Sprint(column, " ", cells, "/", rows, ";") }
	p.Unknown = func(column, word string, rows int64) { said += fmt.Sprint(column, " ", word, " ", rows, ";") }
	for range 2 { // the second time counts anew
		said = ""
		must.Get(p.Predict("csv", []byte("x,y,k\n1,2,c\n,2,a\n")))(t)
		must.Equal(t, said, "x 1/2;k c 1;", "what is told")
	}
	none := must.Get(p.Predict("csv", []byte("x,y,k\n")))(t)
	must.Equal(t, len(none[0].Numbers), 0, "predictions of no rows")
	must.Fail(t, "a word", must.Err(p.Predict("csv", []byte("k,x,y\na,1,two\n"))),
		`rows.csv: line 2, column y: expected a number, found "two"`)
	must.Fail(t, "a column less", must.Err(p.Predict("csv", []byte("x,k\n1,a\n"))), "rows.csv: ", `"y"`)
	must.Fail(t, "a format", must.Err(p.Predict("xml", []byte("<x/>"))), "rows.xml: expected a file in one of the formats")
	must.Fail(t, "no folder", must.Err(OpenTablePredictor(q, t.TempDir(), "")), "expected the folder of a finished run")
	p.Close()
	must.Is(t, must.Err(p.Predict("csv", []byte("x,y,k\n1,2,a\n"))), backend.ErrClosed, "a closed predictor")
}
