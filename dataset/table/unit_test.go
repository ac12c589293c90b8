package table

import (
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// A text has a unit only where the rest of it is a number.
func TestUnitOf(t *testing.T) {
	for s, want := range map[string]string{
		"12.5%": "%", "-3 %": "%", "€ 1,548": "€", "$1,200.50": "$", "-$5": "$",
		"1 200\u00a0€": "€", "1'200 CHF": "CHF", "EUR 12.000,50": "EUR",
		"£0.99": "£", "12": "", "12.5": "",
		"%": "", "€": "", "a 5%": "", "5% of x": "", "$5 €": "", "CHF": "", "50 Cent": "", "SKU123": "", "": "",
	} {
		must.Equal(t, UnitOf(s), want, "%q", s)
	}
	must.Equal(t, PlainNumber("12.5%"), "a number without %", "what is expected")
}

// A word behind a number is a measure, as is one before a number with decimals.
func TestMeasureOf(t *testing.T) {
	for s, want := range map[string]string{
		"82.1 °C": "°C", "5kg": "kg", "-3 km/h": "km/h", "1'200 m²": "m²", "pH 7.2": "pH", "12\u00a0mmHg": "mmHg", "1,5 l": "l", "12.5%": "%",
		"class 37": "", "SKU123": "", "5 of x": "", "12": "", "kg": "", "a 5%": "", "10 Downing Street": "", "": "",
	} {
		must.Equal(t, MeasureOf(s), want, "%q", s)
	}
}
