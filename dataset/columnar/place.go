package columnar

import (
	"fmt"
	"os"
	"sort"
	"sync"

	"github.com/amtrl/amtrl/dataset/table"
)

// places finds the file of a row of the input, and its line. The lines of a file are read when the first of its rows is asked for; they are
// unknown where the file has changed.
type places struct {
	files []inputFile
	mu    sync.Mutex
	lines map[int][]lineRun // by file, nil where lines are unknown
}

// lineRun stands for rows on consecutive lines: row is the first row, and line is its line.
type lineRun struct{ row, line int64 }

// Lines are unknown in files of more than maxLined bytes, which take long to read, and where rows take many lines each, so that there are
// more than maxRuns runs.
const (
	maxLined = 1 << 30
	maxRuns  = 1 << 20
)

// place names row i of the input by its file and line, or by its file and row, counted from 0, where lines are unknown.
func (p *places) place(i int64) string {
	for f, file := range p.files {
		if i >= file.Rows {
			i -= file.Rows
			continue
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		runs, read := p.lines[f]
		if !read {
			runs = file.lineRuns()
			if p.lines == nil {
				p.lines = map[int][]lineRun{}
			}
			p.lines[f] = runs
		}
		if at := sort.Search(len(runs), func(k int) bool { return runs[k].row > i }) - 1; at >= 0 {
			return fmt.Sprintf("%s: line %d", file.Path, runs[at].line+i-runs[at].row)
		}
		return fmt.Sprintf("%s: row %d", file.Path, i)
	}
	return ""
}

// lineRuns reads on which lines the rows of a text file are. It returns nil for other files, and where the file is not the one that was
// imported.
func (f inputFile) lineRuns() (runs []lineRun) {
	info, err := os.Stat(f.Path)
	if err != nil || info.Size() != f.Size || f.Size > maxLined {
		return nil
	}
	t, err := table.Open(f.Path, table.FormatOf(f.Path))
	if err != nil {
		return nil
	}
	defer t.Close()
	rows := int64(0)
	err = t.Scan(table.Query{}, func(b *table.Batch) error {
		for i := range b.Rows {
			line, row := int64(b.Line(i)), b.First+int64(i)
			if n := len(runs); n == 0 || line-runs[n-1].line != row-runs[n-1].row {
				runs = append(runs, lineRun{row, line})
			}
		}
		if rows += int64(b.Rows); len(runs) > maxRuns || b.Line(0) == 0 {
			return errChanged
		}
		return nil
	})
	if err != nil || rows != f.Rows {
		return nil
	}
	return runs
}

// Place names the file and the line, or the row, of row i of the source.
func (o origin) Place(i int) string { return o.places.place(o.rows[o.first+i]) }
