package manifest

import (
	"context"
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// matchVectors returns an error where the files of rows are not as many as those of vectors. It names those that have another
// number of rows, such as a table of the labels alone, if the others are as many.
func matchVectors(ctx context.Context, files []string) error {
	rows, vectors := split(files)
	if len(vectors) == 0 || len(rows) == len(vectors) {
		return nil
	}
	const most = 5
	has := map[int64]bool{}
	for _, path := range vectors {
		if n, err := numberOfRows(ctx, path); err == nil {
			has[n] = true
		}
	}
	other := slices.DeleteFunc(slices.Clone(rows), func(path string) bool {
		n, err := numberOfRows(ctx, path)
		return err != nil || has[n]
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	advice := ""
	if n := len(rows) - len(vectors); n > 0 {
		advice = ": labels must be a column of the table, to which they can be joined by the id"
		if len(other) == n {
			advice += fmt.Sprintf("; leave out %s, which %s not as many rows as there are vectors", text.List(other, most),
				text.Form(n, "has", "have"))
		}
	}
	return fmt.Errorf("expected a file of vectors for each file of rows, in the same order, found %s for %s%s", text.List(vectors, most),
		text.List(rows, most), advice)
}

// numberOfRows returns the number of rows of a file.
func numberOfRows(ctx context.Context, path string) (n int64, err error) {
	t, err := table.Open(path, table.FormatOf(path))
	if err != nil {
		return 0, err
	}
	defer t.Close()
	err = t.Scan(table.Query{}, func(b *table.Batch) error {
		n += int64(b.Rows)
		return ctx.Err()
	})
	return n, err
}
