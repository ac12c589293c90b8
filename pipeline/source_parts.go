package pipeline

import "gonum.org/v1/gonum/mat"

// sourcePart holds the rows of a source that have labels of the same outputs. Output 0 of the source is number first
// among the outputs of all sources.
type sourcePart struct {
	source, first int
	labelGroup
}

// mostTogether bounds the numbers that one call computes for several sources: every call to a device has a cost, and
// its memory is limited.
const mostTogether = 1 << 20

// eachPart calls do for each part of the sources with least rows or more, passing it what of computes for these rows, n
// by columns, in memory that the next parts overwrite. To save calls to the device, of is called for the rows of many parts
// at a time; it may compute their phi too.
func (l *Learner) eachPart(in []Labelled, least, columns int, of func(*hostCopy, ...poolRows) (*mat.Dense, error),
	do func(sourcePart, *mat.Dense)) error {
	var parts []sourcePart
	var rows []poolRows
	var to hostCopy
	count, width := 0, max(columns, l.problem.Config.K+1)
	flush := func() error {
		if len(parts) == 0 {
			return nil
		}
		all, err := of(&to, rows...)
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
