package dataset

import "github.com/amtrl/amtrl/internal/ranks"

// rankedRows is the largest number of labelled rows whose order is looked at.
const rankedRows = 2000

// rankCorrelations holds, by column of numeric labels and by feature, the squared correlation of their ranks (Spearman 1904).
type rankCorrelations map[string][]float64

// of returns the squared rank correlation of a feature with a column of labels, 0 where it is not known.
func (r rankCorrelations) of(column string, feature int) float64 {
	if all := r[column]; all != nil {
		return all[feature]
	}
	return 0
}

// rankCorrelations compares the order of the labels that are numbers with that of each of the first features, over rows of all sources,
// evenly chosen. A feature that rises wherever the label does, or falls, tells it whatever the curve. It returns nil for classes.
func (s *Set) rankCorrelations(features int) rankCorrelations {
	if s.Binary {
		return nil
	}
	out := rankCorrelations{}
	for i := range s.Tasks {
		column := s.Tasks[i].Output.Name
		if _, known := out[column]; known {
			continue
		}
		var labels []float64
		rows := make([][]float64, features) // by feature
		for t, r := range s.evenly(column, rankedRows, func(float64) bool { return true }) {
			labels = append(labels, float64(t.Labels[r]))
			p := s.Pools[t.Pool]
			for j := range rows {
				rows[j] = append(rows[j], float64(p.feature(int(r)*p.Cols+j)))
			}
		}
		out[column] = nil
		if len(labels) < 2*tellingRows {
			continue
		}
		of, all := ranks.Of(labels), make([]float64, features)
		for j, x := range rows {
			if c := ranks.Correlation(ranks.Of(x), of); c == c {
				all[j] = c * c
			}
		}
		out[column] = all
	}
	return out
}
