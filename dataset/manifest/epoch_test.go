package manifest

import (
	"testing"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
)

// Times counted from 1970 are no features, in whatever unit; durations, years and other large numbers are.
func TestEpoch(t *testing.T) {
	for _, c := range []struct {
		name      string
		low, high float64
		is        bool
	}{
		{"timestamp", 1.70e9, 1.71e9, true}, {"window_time", 1.70e12, 1.75e12, true}, {"created_at", 1.6e15, 1.7e15, true},
		{"ts", 1.6e18, 1.7e18, true}, {"Date", 9.5e8, 1.2e9, true}, {"unix", 1.7e9, 1.7e9, true},
		{"time_ns", 4e8, 1.9e9, false}, {"time", 0, 3600, false}, {"updated_at", 2001, 2026, false}, {"revenue", 1.7e9, 1.8e9, false},
		{"timestamp", 1.7e9, 1.7e12, false}, {"timestamp", 1.7e10, 1.8e10, false},
	} {
		of := &column{Column: table.Column{Name: c.name, Kind: table.Integer}, rows: 50, numbers: 50, ints: 50, low: c.low, high: c.high}
		must.Equal(t, of.epoch(), c.is, "whether %s from %g to %g is a time", c.name, c.low, c.high)
	}
}
