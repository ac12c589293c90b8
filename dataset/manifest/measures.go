package manifest

import (
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
)

// measure is the number of values with one word beside a number, by [table.MeasureOf], and the first of these values.
type measure struct {
	rows  int
	first string
}

// mostMeasures is the largest number of different words beside numbers that are counted in a column.
const mostMeasures = 20

func (c *column) lookAtMeasure(value string) {
	word := table.MeasureOf(value)
	m, known := c.measures[word]
	if word == "" || !known && len(c.measures) == mostMeasures {
		return
	}
	if !known {
		if c.measures == nil {
			c.measures = map[string]measure{}
		}
		word, m.first = strings.Clone(word), strings.Clone(value)
	}
	m.rows++
	c.measures[word] = m
}

// settleMeasure takes the word beside a number for a unit where nine tenths of the values or more have it, or are plain numbers.
func (c *column) settleMeasure() {
	for word, m := range c.measures {
		if c.units == 0 && 2*m.rows > c.has() && 10*(m.rows+c.numbers) >= 9*c.has() {
			c.units, c.unit, c.united = m.rows, word, m.first
			return
		}
	}
}
