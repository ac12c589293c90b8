package pipeline

import "gonum.org/v1/gonum/mat"

// sourcePart are the rows of a source that have labels of the same outputs. Output 0 of the source is number first of all.
type sourcePart struct {
	source, first int
	labelGroup
}

// mostTogether bounds the numbers that are computed for several sources at a time: each call has its price on a device, and so has room.
const mostTogether = 1 << 20

// eachPart calls do with what of computes for the rows of each part of the sources, n by columns, of those that have least rows or more. It
// calls of for the rows of many parts at a time, of which it may compute phi too.
func (l *Learner) eachPart(in []Labelled, least, columns int, of func(...poolRows) (*mat.Dense, error),
	do func(sourcePart, *mat.Dense)) error {
	var parts []sourcePart
	var rows []poolRows
	count, width := 0, max(columns, l.problem.Config.K+1)
	flush := func() error {
		if len(parts) == 0 {
			return nil
		}
		all, err := of(rows...)
		if err != nil {
			return err
		}
		at := 0
		for _, p := range parts {
			do(p, all.Slice(at, at+len(p.Rows), 0, columns).(*mat.Dense))
			at += len(p.Rows)
		}
		parts, rows, count = nil, nil, 0
		return nil
	}
	first := 0
	for m, source := range l.problem.Sources {
		for _, group := range in[m].parts(len(source.Tasks)) {
			n := len(group.Rows)
			if n < least {
				continue
			}
			if (count+n)*width > mostTogether {
				if err := flush(); err != nil {
					return err
				}
			}
			parts, rows, count = append(parts, sourcePart{m, first, group}), append(rows, poolRows{source.Pool, group.Rows}), count+n
		}
		first += len(source.Tasks)
	}
	return flush()
}
