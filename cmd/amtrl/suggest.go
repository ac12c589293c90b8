package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// suggest asks whether a flag was meant that is spelt nearly as name is: within
// two slips and half its length, or alike in the first three letters. It is
// empty where there is none.
func suggest(flags []cli.Flag, name string) string {
	best, least := "", 0
	for _, f := range append([]cli.Flag{cli.HelpFlag}, flags...) {
		for _, known := range f.Names() {
			d := slips(name, known)
			near := d <= 2 && 2*d <= len(name) || len(name) >= 3 && len(known) >= 3 && name[:3] == known[:3]
			if near && (best == "" || d < least) {
				best, least = known, d
			}
		}
	}
	switch len(best) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(", did you mean -%s?", best)
	}
	return fmt.Sprintf(", did you mean --%s?", best)
}

// slips is the least number of letters inserted, left out, replaced or swapped
// with the next that turns a into b (optimal string alignment).
func slips(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			differ := 1
			if a[i-1] == b[j-1] {
				differ = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+differ)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
