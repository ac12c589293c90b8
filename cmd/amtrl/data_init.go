package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

type initOptions struct {
	files                                                               []string
	id, source, label, features, categories, split, cost, group, target flags.Value[string]
	encoding, out                                                       flags.Value[string]
	output
}

// initFile is the manifest that data init writes by default.
const initFile = "dataset.yaml"

func (o *initOptions) addFlags(set *flags.Set) {
	set.Group(groupData)
	set.Text(&o.id, "id", "`COLUMN` of the ids of rows; by default guessed", "")
	set.Text(&o.source, "source", "`COLUMN` of the source of a row, (file) or (folder); by default guessed", "")
	set.Text(&o.label, "label",
		"`COLUMNS` of labels, separated by commas; a name that holds one alone or in double quotes; by default one that is guessed", "")
	set.Text(&o.features, "features",
		"`COLUMNS` of lists or of numbers, or patterns of them such as f*, as for --label; by default guessed", "")
	set.Text(&o.categories, "categories",
		"`COLUMNS` of few words, each of which becomes a feature, as for --label; by default guessed where --features is not given", "")
	set.Text(&o.split, "split", "`COLUMN` that says train or test; by default guessed", "")
	set.Text(&o.cost, "cost", "`COLUMN` of what the label of a row costs; by default guessed", "")
	set.Text(&o.group, "group", "`COLUMN` whose rows of one value belong together, such as the patient of a visit: they are drawn, left "+
		"out and held out together", "")
	set.Text(&o.target, "target", "`NAME` of the source that is the target; by default the one with the fewest labels, from five on", "")
	addEncoding(set, &o.encoding)
	set.Group(groupOutput)
	set.Text(&o.out, "out", "`FILE` to write, or - for standard output", initFile)
	o.addQuiet(set)
	o.addFormat(set)
}

func (o *initOptions) readArguments(c *cli.Context) error {
	if o.files = c.Args().Slice(); len(o.files) == 0 {
		return flags.Misuse("expected the files of the data, found no arguments")
	}
	return checkEncoding(o.encoding)
}

func (o *initOptions) run(ctx context.Context) error {
	path, toStdout := o.out.V, o.out.V == stdout
	if toStdout {
		path = initFile
	} else if _, err := os.Lstat(o.out.V); err == nil {
		return fmt.Errorf("%s: expected no such file, found one: say another with --out", o.out.V)
	}
	files, err := expandFolders(o.files)
	if err != nil {
		return err
	}
	if !slices.Equal(files, o.files) { // there are folders
		arrays, without := arraysBeside(files)
		if without == "" {
			files = append(files, arrays...)
		} else if len(arrays) > 0 {
			o.note("note: %s not used, since no array is named like %s", text.List(arrays, mostListed)+text.Form(len(arrays), " is", " are"),
				without)
		}
	}
	features, err := columnNames(o.features, files[0], o.encoding.V)
	if err != nil {
		return err
	}
	categories, err := columnNames(o.categories, files[0], o.encoding.V)
	if err != nil {
		return err
	}
	labels, err := columnNames(o.label, files[0], o.encoding.V)
	if err != nil {
		return err
	}
	g, err := unlessInterrupted(ctx, func() (*manifest.Guess, error) {
		return manifest.Look(ctx, path, files, manifest.Known{
			ID: o.id.V, Source: o.source.V, Split: o.split.V, Cost: o.cost.V, Group: o.group.V, Target: o.target.V,
			Features: features, Categories: categories, Labels: labels, Encoding: o.encoding.V,
		})
	})
	if err != nil {
		return err
	}
	if !toStdout {
		if err := atomicfile.MkdirAll(filepath.Dir(o.out.V)); err != nil {
			return err
		}
		if err := atomicfile.WriteThrough(o.out.V, []byte(g.Text())); err != nil {
			return err
		}
	}
	list := report.Table{Header: []string{"guessed", "value"}, Wrap: []int{1}, Width: terminalWidth(os.Stdout)}
	for _, row := range [][2]string{
		{"id", g.ID}, {"source", sourceText(g)}, {"features", featuresText(g)},
		{"categories", columnsText(g.Categories)}, {"knots", knotsText(g)}, {"products", productsText(g)},
		{"fill", fillText(g)}, {"absent", text.List(g.Lacking, mostListed)}, {"none", text.List(g.Coded, mostListed)},
		{"label", labelText(g)}, {"split", g.Split}, {"cost", g.Cost}, {"group", g.Group}, {"target", targetText(g)},
	} {
		if row[1] != "" {
			list.Rows = append(list.Rows, row[:])
		}
	}
	for i, l := range g.Labels {
		if words := wordsText(g.Missing[i], func(string) bool { return true }); words != "" {
			list.Rows = append(list.Rows, []string{"no label", fmt.Sprintf("%s: %s", l.Column, words)})
		}
		if words := wordsText(g.Classes[i], text.LooksMissing); words != "" {
			list.Rows = append(list.Rows, []string{"a class?", fmt.Sprintf("%s: %s; where it means no label, add it to missing", l.Column, words)})
		}
		if among := g.AmongClasses(i); among != "" {
			list.Rows = append(list.Rows, []string{"a number?", l.Column + ": " + among})
		}
	}
	if len(g.Like) > 0 {
		list.Rows = append(list.Rows, []string{"a label?",
			columnsText(g.Like) + ": a feature now; leave it out where it is not known before the label"})
	}
	for i, column := range g.Others {
		const most = 12
		if i == most {
			list.Rows = append(list.Rows, []string{"", fmt.Sprintf("... (%d)", len(g.Others))})
			break
		}
		list.Rows = append(list.Rows, []string{[]string{"not used", ""}[min(i, 1)], column})
	}
	if toStdout {
		o.note("%s", strings.TrimSuffix(list.Render(o.format), "\n"))
		return o.emit(g.Text())
	}
	return o.emit(list.Render(o.format) + fmt.Sprintf("\nwrote %s: read it, then amtrl data check %s\n", o.out.V, text.ShellQuote(o.out.V)))
}

// wordsText lists the words that fits accepts, each with its number of rows.
func wordsText(rows map[string]int, fits func(string) bool) string {
	var parts []string
	for _, word := range slices.Sorted(maps.Keys(rows)) {
		if fits(word) {
			parts = append(parts, fmt.Sprintf("%q (%s)", text.OneLine(word, 40), text.Several(rows[word], "row")))
		}
	}
	return strings.Join(parts, ", ")
}

func sourceText(g *manifest.Guess) string {
	if g.MaybeSource == "" {
		return g.Source
	}
	return g.Source + ", or is it " + text.OneLine(g.MaybeSource, 80) + "? --source NAME says which"
}

func labelText(g *manifest.Guess) string {
	var parts []string
	for i, l := range g.Labels {
		order := ""
		if g.Ordered(i) {
			order = "; type: number where their order counts"
		} else if slices.Contains(g.Counts, l.Column) {
			order = "; type: classes where its values are names"
		} else if g.MayBecomeMore(i) {
			order = "; type: binary where no third will come"
		}
		parts = append(parts, l.Column+" ("+l.Type+order+")")
	}
	if len(g.Maybe) > 0 {
		parts = append(parts, "or is it "+text.OneLine(strings.Join(g.Maybe, " or "), 200)+
			"? --label NAME says which, --label NAME,NAME takes several")
	}
	return strings.Join(parts, ", ")
}

func featuresText(g *manifest.Guess) string {
	if v := g.Vectors; v != nil {
		return text.List(v.Files, mostListed) + ", joined by " + v.Join
	}
	if g.Numbered {
		return columnsText(g.Features) + ": a vector; with knots, columns of a table, whose effects may bend"
	}
	return columnsText(g.Features)
}

func columnsText(columns []string) string {
	names := slices.Clone(columns)
	for i, name := range names {
		if strings.Contains(name, ",") {
			names[i] = strconv.Quote(name)
		}
	}
	return text.List(names, mostListed)
}

func fillText(g *manifest.Guess) string {
	if g.Fill == "" {
		return ""
	}
	and := ""
	if g.Fill == manifest.FillIndicator {
		and = ", with a feature that says which were"
	}
	if len(g.Gaps) > 0 {
		and += ": " + text.List(g.Gaps, mostListed)
	}
	return "mean of the column into missing cells" + and
}

func knotsText(g *manifest.Guess) string {
	if g.Knots == 0 {
		return ""
	}
	return fmt.Sprintf("%d: the effect of a number bends at so many of its quantiles", g.Knots)
}

func productsText(g *manifest.Guess) string {
	if !g.Products {
		return ""
	}
	return "of each pair of columns: the effect of one may depend on the other"
}

func targetText(g *manifest.Guess) string {
	s, sources := g.TargetCount()
	if s == nil {
		return g.Target.Source
	}
	return fmt.Sprintf("%s (%s of %s labelled), beside %s", s.Name, text.Count(s.Labelled), text.Several(s.Rows, "row"),
		text.Several(sources, "source"))
}

// isResult reports whether a folder is that of a run, a sweep or a study.
func isResult(dir string) bool {
	_, err := runs.ReadIdentity(dir)
	if err != nil {
		_, err = study.Open(dir)
	}
	return err == nil
}

// arraysBeside returns the files of arrays that are named like one of the tables, in the order of these, and the first table for which
// there is none.
func arraysBeside(tables []string) (arrays []string, without string) {
	for _, path := range tables {
		name := strings.TrimSuffix(path, ".gz")
		name = strings.TrimSuffix(name, filepath.Ext(name))
		found := ""
		for _, ending := range []string{".npy", ".safetensors"} {
			if _, err := os.Stat(name + ending); err == nil && found == "" && name+ending != path {
				found = name + ending
			}
		}
		if found != "" {
			arrays = append(arrays, found)
		} else if without == "" {
			without = path
		}
	}
	return arrays, without
}

// expandFolders replaces each folder by the tables in it and in its subfolders, except those of runs, sweeps and
// studies. Files of arrays are taken only where a folder holds no tables, and JSON files, which describe data more
// often than they hold them, only where it holds neither.
func expandFolders(files []string) ([]string, error) {
	var out []string
	for _, file := range files {
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s: expected a file or a folder, found none", file)
		case err != nil:
			return nil, err
		case !info.IsDir():
			if table.FormatOf(file) == "" {
				return nil, cmp.Or(table.CheckSpreadsheet(file), fmt.Errorf("%s: expected a name whose ending tells the format, such as "+
					"rows.csv: one of %s", file, strings.Join(table.Formats(), ", ")))
			}
			out = append(out, file)
			continue
		}
		var tables, arrays, lists, unknown []string
		err = filepath.WalkDir(file, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() && path != file && isResult(path) {
				return fs.SkipDir
			}
			if err != nil || !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") {
				return err
			}
			switch table.FormatOf(path) {
			case "":
				unknown = append(unknown, path)
			case table.NPY, table.Safetensors:
				arrays = append(arrays, path)
			case table.JSON:
				lists = append(lists, path)
			default:
				tables = append(tables, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, others := range [][]string{arrays, lists} {
			if len(tables) == 0 {
				tables = others
			}
		}
		if len(tables) == 0 {
			for _, path := range unknown {
				if err := table.CheckSpreadsheet(path); err != nil {
					return nil, err
				}
			}
			return nil, fmt.Errorf("%s: expected files with the endings of %s, found none", file,
				strings.Join(table.Formats(), ", "))
		}
		out = append(out, tables...)
	}
	return out, nil
}
