package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/runs"
)

// Command is the command that repeats the work of a folder, and what it lacks to do so, empty for nothing.
type Command struct{ Line, Lacks string }

// provenance returns the part on where a result is from. Each setting in config.json has a row.
func provenance(id *runs.Identity, command Command, seconds float64, files runs.Hashes) Part {
	p := Part{ID: "provenance", Title: "Where this is from", Wide: true}
	sheet := Sheet{ID: "provenance-table", Title: "run", Open: true, Columns: []string{"what", "value"}}
	add := func(what string, c Cell) {
		if c.Text != "" {
			sheet.Rows = append(sheet.Rows, row1(plain(what), c))
		}
	}
	add("command that repeats it", code(command.Line))
	add("what the command lacks", plain(command.Lacks))
	add("amtrl", code(id.Version))
	add("data", name(id.Data.Name))
	add("sha256 of the data", code(id.Data.SHA256))
	if id.Data.Pools > 0 {
		add("pools", whole(id.Data.Pools))
		add("tasks", whole(id.Data.Tasks))
		add("features", whole(id.Data.Cols))
	}
	add("backend", code(id.Backend.Backend))
	add("device", code(id.Backend.Device))
	add("detail", code(id.Backend.Detail))
	add("precision", code(id.Backend.Precision))
	if len(id.Seeds) == 1 {
		add("seed", code(strconv.FormatUint(id.Seeds[0], 10)))
	} else {
		add("seeds", whole(len(id.Seeds)))
	}
	if seconds > 0 {
		add("time", number(seconds, fmt.Sprintf("%.3g s", seconds)))
	}
	p.Sheets = append(p.Sheets, sheet)
	settings := Sheet{ID: "settings", Title: "settings", Columns: []string{"setting", "value"}}
	if js, err := json.Marshal(id.Config); err == nil {
		var tree map[string]any
		if json.Unmarshal(js, &tree) == nil {
			settings.Rows = flatten("", tree, settings.Rows)
		}
	}
	p.Sheets = append(p.Sheets, settings)
	hashes := Sheet{ID: "hashes", Title: "SHA-256 of the files", Columns: []string{"file", "sha256"}}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		hashes.Rows = append(hashes.Rows, row1(code(file), code(files[file])))
	}
	if len(files) > 0 {
		p.Sheets = append(p.Sheets, hashes)
	}
	return p
}

// flatten appends the leaves of a tree of settings to out, in the order of their names.
func flatten(path string, tree map[string]any, out []Row) []Row {
	for _, k := range slices.Sorted(maps.Keys(tree)) {
		full := k
		if path != "" {
			full = path + "." + k
		}
		switch v := tree[k].(type) {
		case map[string]any:
			out = flatten(full, v, out)
		case float64:
			out = append(out, row1(code(full), number(v, strconv.FormatFloat(v, 'g', -1, 64))))
		default:
			js, _ := json.Marshal(v)
			out = append(out, row1(code(full), code(string(js))))
		}
	}
	return out
}
