package main

import (
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagHelp is the part of a command's help that lists its flags: groups and
// flags in the order in which the command adds them.
const flagHelp = `{{range groups .VisibleFlags}}
   {{.Name}}

{{range .Flags}}{{flag .}}{{end}}{{end}}`

const (
	usageColumn = 28
	helpColumns = 116
)

// printHelp executes a help template of urfave/cli with flagHelp in place of its own list of flags, which is sorted by name.
func printHelp(w io.Writer, template string, data any) {
	template = strings.ReplaceAll(template, `{{template "visibleFlagCategoryTemplate" .}}`, flagHelp)
	cli.HelpPrinterCustom(w, template, data, map[string]any{"groups": groupsOf, "flag": flagText})
}

// flagText returns a flag with its usage beside it, or below it if the name is long, in lines of at most helpColumns.
func flagText(f cli.Flag) string {
	name, usage, _ := strings.Cut(f.String(), "\t")
	line := "   " + name
	if len(line) > usageColumn-2 {
		line += "\n"
	} else {
		line += strings.Repeat(" ", usageColumn-2-len(line))
	}
	var out strings.Builder
	for _, word := range strings.Fields(usage) {
		switch {
		case strings.HasSuffix(line, "\n"):
			out.WriteString(line)
			line = strings.Repeat(" ", usageColumn) + word
		case len(line)+1+len(word) > helpColumns:
			out.WriteString(line + "\n")
			line = strings.Repeat(" ", usageColumn) + word
		case len(line) < usageColumn:
			line += "  " + word
		default:
			line += " " + word
		}
	}
	out.WriteString(line + "\n")
	return out.String()
}

type flagGroup struct {
	Name  string
	Flags []cli.Flag
}

func groupsOf(list []cli.Flag) []flagGroup {
	var groups []flagGroup
	for _, f := range list {
		c, ok := f.(cli.CategorizableFlag)
		if !ok || c.GetCategory() == "" {
			continue
		}
		i := slices.IndexFunc(groups, func(g flagGroup) bool { return g.Name == c.GetCategory() })
		if i < 0 {
			i = len(groups)
			groups = append(groups, flagGroup{Name: c.GetCategory()})
		}
		groups[i].Flags = append(groups[i].Flags, f)
	}
	return groups
}
