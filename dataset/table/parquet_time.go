package table

import (
	"time"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// The forms of ISO 8601 for what Parquet counts. Fractions of seconds have the digits that they need.
const (
	dayForm   = time.DateOnly
	clockForm = "15:04:05.999999999"
)

// oldTimes are the types of times that an old name stands for.
var oldTimes = map[deprecated.ConvertedType]format.LogicalTypeValue{
	deprecated.Date:            &format.DateType{},
	deprecated.TimeMillis:      &format.TimeType{Unit: format.TimeUnit{Value: &format.MilliSeconds{}}},
	deprecated.TimeMicros:      &format.TimeType{Unit: format.TimeUnit{Value: &format.MicroSeconds{}}},
	deprecated.TimestampMillis: &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.MilliSeconds{}}},
	deprecated.TimestampMicros: &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.MicroSeconds{}}},
}

// clockOf returns what writes the integers of a leaf as a day or a time, or nil where they are none. A time at midnight is
// its day, as pandas writes it in a column of days.
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

// moment returns what finds a time so many units after 1970 began, or nil for a unit that is not known.
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
