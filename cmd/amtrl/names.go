package main

import (
	"os"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/flags"
)

// columnNames reads a list of columns of file, separated by commas. encoding is that of a text, UTF-8 where it is empty. A name that holds
// a comma is in double quotes or is the whole list.
func columnNames(list flags.Value[string], file, encoding string) ([]string, error) {
	return namesUnless(list, func() bool {
		t, err := table.Open(file, table.Encoded(table.FormatOf(file), encoding))
		if err != nil {
			return false // whoever reads the file reports the error
		}
		defer t.Close()
		return slices.ContainsFunc(t.Columns(), func(c table.Column) bool { return c.Name == list.V })
	})
}

// fileNames reads a list of files, in the form of columnNames.
func fileNames(list flags.Value[string]) ([]string, error) {
	return namesUnless(list, func() bool {
		_, err := os.Stat(list.V)
		return err == nil
	})
}

// namesUnless reads a list of names. If isOne reports true, the whole list is one name.
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

// addEncoding adds the flag that says how text is encoded.
func addEncoding(set *flags.Set, to *flags.Value[string]) {
	set.Text(to, "encoding", "`ENCODING` of files of text, such as windows-1252; by default UTF-8, or UTF-16 with a byte-order mark", "")
}

// checkEncoding checks what the flag of addEncoding says.
func checkEncoding(of flags.Value[string]) error {
	if !of.Given {
		return nil
	}
	if err := table.CheckEncoding(of.V); err != nil {
		return flags.Misuse("--%s: %s", of.Name, err)
	}
	return nil
}
