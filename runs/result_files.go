package runs

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

// relevanceHeader is the header row of relevance.csv.
var relevanceHeader = []string{"source", "nu", "nu_low", "nu_high", "share", "share_low", "share_high", "top_five", "samples", "cost",
	"available"}

// encodeRelevance returns the content of relevance.csv. Cells of what was not computed are empty. The cost is that of
// the samples, and available is the number of rows that the source can give.
func encodeRelevance(p *pipeline.Problem, sources []SourceResult) ([]byte, error) {
	costs, there, counts := map[string]float64{}, map[string]int{}, p.Available()
	for i, name := range p.SourceNames() {
		costs[name], there[name] = p.Costs[i], counts[i]
	}
	rows := [][]string{relevanceHeader}
	for _, s := range sources {
		cells := map[string]string{"source": s.Source, "samples": strconv.Itoa(s.Samples), "available": strconv.Itoa(there[s.Source])}
		numbers := map[string]float64{"nu": s.Nu, "share": s.Share, "cost": costs[s.Source] * float64(s.Samples)}
		if i := s.SourceIntervals; i != nil {
			maps.Copy(numbers, map[string]float64{"nu_low": i.NuLow, "nu_high": i.NuHigh, "share_low": i.ShareLow,
				"share_high": i.ShareHigh, "top_five": i.TopFive})
		}
		var row []string
		for _, name := range relevanceHeader {
			if v, is := numbers[name]; is {
				cells[name] = text.Number(v)
			}
			row = append(row, cells[name])
		}
		rows = append(rows, row)
	}
	return EncodeCSV(rows)
}

// RowsHeader returns the header row of rows.csv.
func RowsHeader() []string { return []string{"round", "source", "id", "row", "cost"} }

// RowID is the source and the id of a row.
type RowID struct{ Source, ID string }

// ReadRowNumbers reads the numbers that rows.csv in a folder gives to the rows with ids.
func ReadRowNumbers(dir string) (map[RowID]int64, error) {
	path := filepath.Join(dir, rowsFile)
	raw, err := atomicfile.ReadFile(path, maxTensors)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err == nil && (len(rows) == 0 || !slices.Equal(rows[0], RowsHeader())) {
		err = fmt.Errorf("expected the columns %s", strings.Join(RowsHeader(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	numbers := make(map[RowID]int64, len(rows))
	for i, row := range rows[1:] {
		if row[2] == "" {
			continue
		}
		n, err := strconv.ParseInt(row[3], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: row %d: expected the number of a row in the data, found %q", path, i+1, row[3])
		}
		numbers[RowID{row[1], row[2]}] = n
	}
	return numbers, nil
}

// encodeRows returns the content of rows.csv: the rows that the first method drew, in drawing order, each with the id
// that the data give it and its place in the data, counted from 0. Where rows have no place of their own in the data,
// it is the place in the pool.
func encodeRows(p *pipeline.Problem, epochs []pipeline.Epoch) ([]byte, error) {
	rows := [][]string{RowsHeader()}
	for i, e := range epochs {
		if e.Method != epochs[0].Method {
			break
		}
		prop, err := p.Propose(pipeline.State{Epochs: epochs[:i:i]})
		if err != nil {
			return nil, err
		}
		for m, name := range p.SourceNames() {
			if n := len(prop.Sources[m]); n != e.Counts[m] {
				return nil, fmt.Errorf("%s: round %d: source %s: expected the %d samples of the allocation, found %d", epochsFile, e.Epoch, name,
					n, e.Counts[m])
			}
			pool := p.Set.Pools[p.Sources[m].Pool]
			for _, r := range prop.Sources[m][prop.Before[m]:] {
				id, row := "", int64(r)
				if pool.Origin != nil {
					if id, row, err = pool.Origin.Find(int(r)); err != nil {
						return nil, err
					}
				}
				rows = append(rows, []string{strconv.Itoa(e.Epoch), name, id, strconv.FormatInt(row, 10), text.Number(p.Costs[m])})
			}
		}
	}
	return EncodeCSV(rows)
}
