package main

import (
	endian "encoding/binary"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
)

// campaign is a folder with the same rows in two files: full.csv has all labels, and bare.csv only those that keep
// selects.
type campaign struct {
	dir     string
	columns []string
	labels  map[string][]string // all labels of each row, by id
}

// newCampaign writes rows of six sources and a target, with classes in one column or numbers in two.
func newCampaign(t *testing.T, rng *rand.Rand, numbers bool, keep func(source string, i int) bool) *campaign {
	t.Helper()
	const width = 9
	c := &campaign{dir: ownFolder(t), columns: []string{"label"}, labels: map[string][]string{}}
	kinds := "[{column: label, classes: [bad, fair, good]}]"
	if numbers {
		c.columns, kinds = []string{"price", "age"}, "[{column: price, type: number}, {column: age, type: number}]"
	}
	normal := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	var centres [7][]float64
	for s := range centres {
		if centres[s] = normal(3 * width); s%2 == 0 {
			centres[s] = centres[0]
		}
	}
	files := map[string]*csv.Writer{}
	for _, name := range []string{"full", "bare"} {
		f := must.Get(os.Create(filepath.Join(c.dir, name+".csv")))(t)
		defer f.Close()
		files[name] = csv.NewWriter(f)
		defer files[name].Flush()
		manifest := "files: " + name + ".csv\ncolumns: {id: id, source: shop, features: f*, cost: cost}\nlabels: " + kinds +
			"\ntarget: {source: zoo}\n"
		must.Do(t, os.WriteFile(filepath.Join(c.dir, name+".yaml"), []byte(manifest), 0o644))
		header := append([]string{"id", "shop", "cost"}, c.columns...)
		for j := range width {
			header = append(header, fmt.Sprintf("f%d", j))
		}
		must.Do(t, files[name].Write(header))
	}
	for s := range centres {
		source, cost := fmt.Sprintf("shop %d", s), []string{"1", "2.5"}[s%2]
		if s == 6 {
			source, cost = "zoo", "1"
		}
		for i := range 90 + rng.IntN(60) {
			class, x := rng.IntN(3), normal(width)
			labels := []string{[]string{"bad", "fair", "good"}[class]}
			if numbers {
				y := [2]float64{rng.NormFloat64(), rng.NormFloat64()}
				for j, v := range x {
					y[0], y[1] = y[0]+3*v*centres[s][j], y[1]+2*v*centres[s][width+j]
				}
				labels = []string{fmt.Sprint(float32(y[0])), fmt.Sprint(float32(y[1]))}
			} else {
				for j := range x {
					x[j] += centres[s][class*width+j]
				}
			}
			id := fmt.Sprintf("%s/%d", source, i)
			c.labels[id] = labels
			row := append([]string{id, source, cost}, labels...)
			for _, v := range x {
				row = append(row, fmt.Sprintf("%.3f", v))
			}
			must.Do(t, files["full"].Write(row))
			if !keep(source, i) {
				for j := range labels {
					row[3+j] = ""
				}
			}
			must.Do(t, files["bare"].Write(row))
		}
	}
	return c
}

// images puts the features of both files into one array of images of 3 by 3, which their manifests name in place of the columns.
func (c *campaign) images(t *testing.T) {
	t.Helper()
	rows := c.read(t, "full.csv")
	raw := npy.FormatHeader("<f4", len(rows), 3, 3)
	for _, r := range rows {
		for j := range 9 {
			x := must.Get(strconv.ParseFloat(r[fmt.Sprint("f", j)], 32))(t)
			raw = must.Get(endian.Append(raw, endian.LittleEndian, float32(x)))(t)
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(c.dir, "images.npy"), raw, 0o644))
	for _, name := range []string{"full.yaml", "bare.yaml"} {
		manifest := string(must.Get(os.ReadFile(filepath.Join(c.dir, name)))(t))
		manifest = strings.Replace(manifest, "features: f*", "features: {file: images.npy, join: row}", 1)
		must.Do(t, os.WriteFile(filepath.Join(c.dir, name), []byte(manifest), 0o644))
	}
}

// read returns the records of a CSV file, each by the names of its columns.
func (c *campaign) read(t *testing.T, name string) []map[string]string {
	t.Helper()
	f := must.Get(os.Open(filepath.Join(c.dir, name)))(t)
	defer f.Close()
	rows := must.Get(csv.NewReader(f).ReadAll())(t)
	var out []map[string]string
	for _, r := range rows[1:] {
		record := map[string]string{}
		for j, name := range rows[0] {
			record[name] = r[j]
		}
		out = append(out, record)
	}
	return out
}

// answer writes a file with the labels of the ids and returns its name.
func (c *campaign) answer(t *testing.T, name string, ids ...string) string {
	t.Helper()
	rows := [][]string{append([]string{"id"}, c.columns...)}
	for _, id := range ids {
		rows = append(rows, append([]string{id}, c.labels[id]...))
	}
	f := must.Get(os.Create(filepath.Join(c.dir, name)))(t)
	defer f.Close()
	must.Do(t, csv.NewWriter(f).WriteAll(rows))
	return name
}

func ids(rows []map[string]string) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r["id"])
	}
	return out
}
