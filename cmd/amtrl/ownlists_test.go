package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// A list beside columns of numbers is as good as a column for each of its elements: to the byte, where these have no knots and products.
func TestOwnListsBesideColumns(t *testing.T) {
	const bits, least = 12, 60
	dir, rng := ownFolder(t), rand.New(rand.NewPCG(4, 0))
	write := func(name string, content any) {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), fmt.Append(nil, content), 0o644))
	}
	rows := func(name string, sources ...string) {
		var lists, wide strings.Builder
		wide.WriteString("id,assay,x,mass,y")
		for j := range bits {
			fmt.Fprintf(&wide, ",fp.%d", j)
		}
		wide.WriteString("\n")
		for n, source := range sources {
			for i := range map[bool]int{true: least, false: 2 * least}[source == "new"] {
				x, mass, y := rng.NormFloat64(), fmt.Sprintf("%.2f", 300+50*rng.NormFloat64()), 0.3*rng.NormFloat64()
				y -= x * x
				var fp []string
				for j := range bits {
					bit := rng.IntN(2)
					fp, y = append(fp, fmt.Sprint(bit)), y+0.4*float64(bit*(j%3-1))
				}
				if i%7 == 0 {
					mass = "null"
				}
				fmt.Fprintf(&lists, `{"id": "r%d-%d", "assay": %q, "x": %.4f, "mass": %s, "y": %.4f, "fp": [%s]}`+"\n", n, i, source, x, mass, y,
					strings.Join(fp, ", "))
				fmt.Fprintf(&wide, "r%d-%d,%s,%.4f,%s,%.4f,%s\n", n, i, source, x, strings.Trim(mass, "nul"), y, strings.Join(fp, ","))
			}
		}
		write(name+".jsonl", lists.String())
		write(name+".csv", wide.String())
	}
	read := func(name string) string { return string(must.Get(os.ReadFile(filepath.Join(dir, name)))(t)) }
	rows("rows", "a", "b", "c", "d", "new")
	rows("fresh", "new")
	succeed(t, dir, "data", "init", "rows.jsonl", "--target", "new", "--label", "y", "--features", "fp,x,mass", "--out", "list.yaml")
	manifest := read("list.yaml")
	for _, want := range []string{"features: [fp, x, mass]", "\n  knots: 5 ", "\n  products: true ", "\n  fill: mean+indicator "} {
		must.Hold(t, strings.Contains(manifest, want), "expected %s in the manifest\n%s", want, manifest)
	}
	amtrl(t, dir, "data", "check", "list.yaml").Prints(t, 0, "mass 81", "nothing is odd")
	succeed(t, dir, "run", "--data", "list.yaml", "--out", "list", "--quiet")
	succeed(t, dir, "predict", "list", "fresh.jsonl", "--out", "list.csv", "--quiet")
	must.Equal(t, strings.Count(read("list/model.safetensors"), "x × mass"), 1, "products of the numbers")
	must.Hold(t, !strings.Contains(read("list/model.safetensors"), "fp.1 ×"), "elements of the list have products")

	same := strings.Replace(manifest, "products: true", "products: false", 1)
	write("same.yaml", same)
	write("wide.yaml", strings.NewReplacer("rows.jsonl", "rows.csv", "[fp,", `["fp.*",`).Replace(same))
	for _, name := range []string{"wide", "same"} {
		succeed(t, dir, "run", "--data", name+".yaml", "--out", name, "--quiet")
	}
	write("other.jsonl", strings.NewReplacer(`"fp"`, `"bits"`, `"x"`, `"v"`).Replace(read("fresh.jsonl")))
	for i, args := range [][]string{{"wide", "fresh.csv"}, {"same", "fresh.csv"}, {"wide", "fresh.jsonl"}, {"same", "fresh.jsonl"},
		{"same", "other.jsonl", "--features", "bits,v,mass"}} {
		out := fmt.Sprint(i, ".csv")
		succeed(t, dir, append([]string{"predict", "--out", out, "--quiet"}, args...)...)
		must.Equal(t, read(out), read("0.csv"), "predictions of %q", args)
	}
	write("short.jsonl", strings.ReplaceAll(read("fresh.jsonl"), `"fp": [`, `"fp": [0, `))
	amtrl(t, dir, "predict", "list", "short.jsonl", "--out", "short.csv").Complains(t, 1,
		fmt.Sprintf("short.jsonl: column fp: expected %d elements, found %d", bits, bits+1))
}
