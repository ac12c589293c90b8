package runs

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// names returns the columns of the features: Features, which may be patterns, or those of the run.
func (r *predictor) names() []string {
	if len(r.Features) > 0 {
		return r.Features
	}
	return r.storedModel.features
}

// columnsIn returns the columns in a file for the features of the run other than words: those that Features selects,
// which need not include words, or those with the run's names. renamed reports that Features selects them.
func (r *predictor) columnsIn(path string, columns []table.Column) (names []string, renamed bool, err error) {
	count := r.width() - table.CountWords(r.words)
	if len(r.Features) > 0 {
		of := r.storedModel.features[:min(count, len(r.storedModel.features))]
		read, want := table.ColumnsRead(of, r.logs), count
		if len(of) == count {
			want = len(unique(read))
		}
		names, err := r.selected(path, columns)
		if len(r.logs) > 0 { // whose names stand for the columns that they are read from
			names = unique(table.ColumnsRead(names, r.logs))
		}
		switch {
		case err == nil && len(names) == want && len(r.logs) > 0:
			return inPlaceOf(of, read, names), true, nil
		case err == nil && len(names) == want:
			return names, true, nil
		case err == nil && len(names) > 1 && len(names) != r.width():
			return nil, false, r.wrongCount(path, want, names)
		}
	}
	return r.storedModel.features[:min(count, len(r.storedModel.features))], false, nil
}

// unique returns the names, each once.
func unique(names []string) (out []string) {
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// inPlaceOf returns the names of features with names in place of the columns that they are read from, each of which is read once: a column
// and its logarithm are read from the same.
func inPlaceOf(features, read, names []string) []string {
	names, at := slices.Clone(names), map[string]string{}
	var out []string
	for j, name := range features {
		column, known := at[read[j]]
		if !known {
			column, names = names[0], names[1:]
			at[read[j]] = column
		}
		if read[j] != name {
			_, l, _ := table.LogOf(name)
			column = l.Name(column)
		}
		out = append(out, column)
	}
	return out
}

func (r *predictor) wrongCount(path string, want int, found []string) error {
	return fmt.Errorf("%s: expected %s of features, those of the run, found %d from %s on", path, text.Several(want, "column"), len(found),
		found[0])
}

// derive adds to a table the features that the run made of its columns: logarithms, words, and missing indicators.
func (r *predictor) derive(path string, t table.Table) (table.Table, error) {
	t, err := r.withLists(path, t)
	if err != nil {
		t.Close()
		return nil, err
	}
	names, renamed, err := r.columnsIn(path, t.Columns())
	if err != nil {
		t.Close()
		return nil, err
	}
	logs := r.logs
	if renamed && len(r.logs) > 0 {
		logs = nil
		for j, name := range names {
			if slices.Contains(r.logs, r.storedModel.features[j]) {
				logs = append(logs, name)
			}
		}
	}
	t = table.WithLogs(table.WithCodes(t, r.missingCodes), logs)
	words := slices.Clone(r.words)
	if r.named = nil; renamed {
		r.named = slices.Clone(names)
	}
	for i, w := range words {
		if at := slices.Index(r.storedModel.features, w.Column); w.OfMissing() && at >= 0 && at < len(names) {
			words[i] = table.Missing(names[at])
		}
		if renamed {
			r.named = append(r.named, words[i].Features()...)
		}
	}
	if len(words) == 0 {
		return t, nil
	}
	w, err := table.WithWords(t, path, words)
	if err != nil {
		t.Close()
		return nil, err
	}
	return w, nil
}

// withLists returns t with the elements of lists among several features as columns.
func (r *predictor) withLists(path string, t table.Table) (table.Table, error) {
	names := r.storedModel.features
	if len(r.Features) > 0 {
		var err error
		if names, err = r.selected(path, t.Columns()); err != nil {
			return t, nil // what selects nothing here is refused later, unless it is the only column
		}
	}
	return table.WithLists(t, path, names)
}

// selected returns the columns of a file that Features selects, which may be patterns.
func (r *predictor) selected(path string, columns []table.Column) ([]string, error) {
	m := manifest.Manifest{Features: r.Features, ID: cmp.Or(r.ID, r.storedModel.id)}
	for _, w := range r.words {
		if !w.OfMissing() {
			m.Categories = append(m.Categories, w.Column)
		}
	}
	for i := range r.columns {
		m.Labels = append(m.Labels, manifest.Label{Column: r.labelColumn(i)})
	}
	return m.FeatureColumns(path, columns)
}
