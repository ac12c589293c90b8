package manifest

// epochNames are names of columns of times that are counted from the beginning of 1970.
var epochNames = []string{"ts", "*timestamp*", "*epoch*", "*unix*", "*date*", "*time*", "*_at"}

// epoch reports whether the numbers are times, counted from the beginning of 1970: by their name, and as all are between 1990 and 2100, in
// seconds or thousandths, millionths or billionths of them, and differ by less than a factor of 2, unlike durations.
func (c *column) epoch() bool {
	if !c.numeric() || c.has() == 0 || !c.named(epochNames) || c.high >= 2*c.low {
		return false
	}
	for _, unit := range []float64{1, 1e3, 1e6, 1e9} {
		if c.low >= 631152000*unit && c.high < 4102444800*unit {
			return true
		}
	}
	return false
}
