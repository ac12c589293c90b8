package flags

import (
	"flag"
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"
)

// intFlag and seedFlag are integers in decimal notation, on the command line and in the environment: 010 is ten. The flag parser's own
// would read it as octal.
type (
	intFlag  struct{ cli.IntFlag }
	seedFlag struct{ cli.Uint64Flag }
)

// Apply implements [cli.Flag].
func (f *intFlag) Apply(set *flag.FlagSet) error {
	if err := f.IntFlag.Apply(set); err != nil {
		return err
	}
	asDecimal(set, f.Names(), decimal[int]{f.Destination, strconv.Atoi})
	return nil
}

// Apply implements [cli.Flag].
func (f *seedFlag) Apply(set *flag.FlagSet) error {
	if err := f.Uint64Flag.Apply(set); err != nil {
		return err
	}
	asDecimal(set, f.Names(), decimal[uint64]{f.Destination, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) }})
	return nil
}

func asDecimal(set *flag.FlagSet, names []string, value flag.Value) {
	for _, name := range names {
		set.Lookup(name).Value = value
	}
}

// decimal is the value of a flag that parse reads.
type decimal[T int | uint64] struct {
	v     *T
	parse func(string) (T, error)
}

// Set implements [flag.Value].
func (d decimal[T]) Set(s string) error {
	v, err := d.parse(s)
	if err == nil {
		*d.v = v
	}
	return err
}

// String implements [flag.Value].
func (d decimal[T]) String() string {
	if d.v == nil {
		return ""
	}
	return fmt.Sprint(*d.v)
}

// Get implements [flag.Getter].
func (d decimal[T]) Get() any { return *d.v }
