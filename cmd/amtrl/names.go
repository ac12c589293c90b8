package main

import (
	"os"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/flags"
)

// columnNames reads a list of columns, as of a file. A name that holds a comma stands alone or in quotes.
func columnNames(list flags.Value[string], file string) ([]string, error) {
	return namesUnless(list, func() bool {
		t, err := table.Open(file, table.FormatOf(file))
		if err != nil {
			return false // which those who read the file will say
		}
		defer t.Close()
		return slices.ContainsFunc(t.Columns(), func(c table.Column) bool { return c.Name == list.V })
	})
}

// fileNames reads a list of files, as columnNames does.
func fileNames(list flags.Value[string]) ([]string, error) {
	return namesUnless(list, func() bool {
		_, err := os.Stat(list.V)
		return err == nil
	})
}

// namesUnless reads a list, which as a whole is one name where isOne says so.
func namesUnless(list flags.Value[string], isOne func() bool) ([]string, error) {
	if strings.Contains(list.V, ",") && isOne() {
		return []string{list.V}, nil
	}
	names, err := flags.Names(list.V)
	if err != nil {
		return nil, flags.Misuse("--%s: %s", list.Name, err)
	}
	return names, nil
}
