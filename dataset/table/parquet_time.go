package table

import (
	"time"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// The ISO 8601 layouts of days and times. Fractions of seconds have as many digits as they need.
const (
	dayForm   = time.DateOnly
	clockForm = "15:04:05.999999999"
)

// oldTimes maps the deprecated names of types of times to these types.
var oldTimes = map[deprecated.ConvertedType]format.LogicalTypeValue{
	deprecated.Date:            &format.DateType{},
	deprecated.TimeMillis:      &format.TimeType{Unit: format.TimeUnit{Value: &format.MilliSeconds{}}},
	deprecated.TimeMicros:      &format.TimeType{Unit: format.TimeUnit{Value: &format.MicroSeconds{}}},
	deprecated.TimestampMillis: &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.MilliSeconds{}}},
	deprecated.TimestampMicros: &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.MicroSeconds{}}},
}

// clockOf returns the function that formats the integers of a leaf as days or times, or nil where they are neither. A timestamp at midnight
// is formatted as its day, as pandas writes it in a column of days.
func clockOf(logical format.LogicalTypeValue) func(int64) string {
	switch l := logical.(type) {
	case *format.DateType:
		return func(days int64) string { return time.Unix(days*24*60*60, 0).UTC().Format(dayForm) }
	case *format.TimeType:
		if at := moment(l.Unit); at != nil {
			return func(x int64) string { return at(x).Format(clockForm) }
		}
	case *format.TimestampType:
		at, form := moment(l.Unit), dayForm+"T"+clockForm
		if l.IsAdjustedToUTC {
			form += "Z"
		}
		if at != nil {
			return func(x int64) string {
				t := at(x)
				if t.Equal(t.Truncate(24 * time.Hour)) {
					return t.Format(dayForm)
				}
				return t.Format(form)
			}
		}
	}
	return nil
}

// moment returns the function that converts a count of units since the beginning of 1970 to a time, or nil for an unknown unit.
func moment(unit format.TimeUnit) func(int64) time.Time {
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		return func(x int64) time.Time { return time.UnixMilli(x).UTC() }
	case *format.MicroSeconds:
		return func(x int64) time.Time { return time.UnixMicro(x).UTC() }
	case *format.NanoSeconds:
		return func(x int64) time.Time { return time.Unix(0, x).UTC() }
	}
	return nil
}
