// Package flags ties the flags of a command to the fields of its options: each flag is stated once, with its name,
// usage and default value, and afterwards the field holds the value and says where it was given.
package flags

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// Origin is the name of a flag and where it was given.
type Origin struct {
	Name string
	// Set is true for a flag on the command line or in the environment, Given only for one on the command line. The
	// environment applies to all commands, so a flag that does nothing is refused only if it is given.
	Set, Given bool
}

// Replaces reports whether the flag takes the place of what was saved earlier, or where nothing was, of the default. The
// environment replaces nothing that was saved.
func (o Origin) Replaces(saved bool) bool { return o.Given || o.Set && !saved }

// Value is the value of a flag, the default one if the flag was not set.
type Value[T any] struct {
	Origin
	V T
}

// CommandLineOnly replaces a value from the environment by otherwise, for a variable that means something else to other commands.
func (v *Value[T]) CommandLineOnly(otherwise T) {
	if !v.Given {
		v.V, v.Set = otherwise, false
	}
}

// Set holds the flags of a command, in the order of its help.
type Set struct {
	Flags []cli.Flag

	group   string
	origins []*Origin
	texts   []func() string
	c       *cli.Context
}

// Group sets the group of the flags that are added next.
func (s *Set) Group(name string) { s.group = name }

// Hide leaves flags out of the help, by their groups or names. They are still read, so that a command can refuse them by name.
func (s *Set) Hide(groupsOrNames ...string) {
	for _, f := range s.Flags {
		c, is := f.(cli.CategorizableFlag)
		if slices.Contains(groupsOrNames, f.Names()[0]) || is && slices.Contains(groupsOrNames, c.GetCategory()) {
			reflect.ValueOf(f).Elem().FieldByName("Hidden").SetBool(true)
		}
	}
}

func add[T any, F cli.Flag](s *Set, v *Value[T], f F) F {
	v.Name = f.Names()[0]
	s.Flags = append(s.Flags, f)
	s.origins = append(s.origins, &v.Origin)
	s.texts = append(s.texts, func() string { return fmt.Sprint(v.V) })
	return f
}

// Text adds a flag that takes any text.
func (s *Set) Text(v *Value[string], name, usage, value string) *cli.StringFlag {
	return add(s, v, &cli.StringFlag{Name: name, Usage: usage, Value: value, Destination: &v.V, Category: s.group, EnvVars: Env(name)})
}

// Int adds a flag that takes an integer in decimal notation.
func (s *Set) Int(v *Value[int], name, usage string, value int) *cli.IntFlag {
	f := &intFlag{cli.IntFlag{Name: name, Usage: usage, Value: value, Destination: &v.V, Category: s.group, EnvVars: Env(name), Base: 10}}
	return &add(s, v, f).IntFlag
}

// Seed adds a flag that takes an integer from 0 on in decimal notation.
func (s *Set) Seed(v *Value[uint64], name, usage string) *cli.Uint64Flag {
	f := &seedFlag{cli.Uint64Flag{Name: name, Usage: usage, Destination: &v.V, Category: s.group, EnvVars: Env(name), Base: 10}}
	return &add(s, v, f).Uint64Flag
}

// Number adds a flag that takes a number.
func (s *Set) Number(v *Value[float64], name, usage string, value float64) *cli.Float64Flag {
	return add(s, v, &cli.Float64Flag{Name: name, Usage: usage, Value: value, Destination: &v.V, Category: s.group, EnvVars: Env(name)})
}

// Bool adds a flag that is false by default.
func (s *Set) Bool(v *Value[bool], name, usage string) *cli.BoolFlag {
	return add(s, v, &cli.BoolFlag{Name: name, Usage: usage, Destination: &v.V, Category: s.group, EnvVars: Env(name)})
}

// Duration adds a flag that takes a duration such as 2m.
func (s *Set) Duration(v *Value[time.Duration], name, usage string) *cli.DurationFlag {
	return add(s, v, &cli.DurationFlag{Name: name, Usage: usage, Destination: &v.V, Category: s.group, EnvVars: Env(name)})
}

// Lines adds a flag that may be repeated. Its values may hold commas; in the environment each line is a value.
func (s *Set) Lines(v *Value[[]string], name, usage string) {
	add(s, v, &cli.GenericFlag{Name: name, Usage: usage, Value: lines{&v.V}, Category: s.group, EnvVars: Env(name)})
}

// Field is a flag whose value is stored in fields that are known only later.
type Field struct {
	*Origin
	store func(field any)
}

// Store stores the value in field, which has the type of the flag's sample.
func (f *Field) Store(field any) { f.store(field) }

// Field adds a flag of the type of the field to which sample points: a *bool, *int, **int, *float64, *string, or, for a
// flag that may be repeated, a *[]string. Help shows text as its default value.
func (s *Set) Field(sample any, name, usage, text string) *Field {
	switch sample.(type) {
	case *bool:
		v := new(Value[bool])
		s.Bool(v, name, usage).DefaultText = text
		return field(v)
	case *int:
		v := new(Value[int])
		s.Int(v, name, usage, 0).DefaultText = text
		return field(v)
	case **int:
		v := new(Value[int])
		s.Int(v, name, usage, 0).DefaultText = text
		return &Field{&v.Origin, func(field any) { *field.(**int) = &v.V }}
	case *float64:
		v := new(Value[float64])
		s.Number(v, name, usage, 0).DefaultText = text
		return field(v)
	case *[]string:
		v := new(Value[[]string])
		s.Lines(v, name, usage)
		return field(v)
	}
	v := new(Value[string])
	s.Text(v, name, usage, "").DefaultText = text
	return field(v)
}

func field[T any](v *Value[T]) *Field {
	return &Field{&v.Origin, func(field any) { *field.(*T) = v.V }}
}

// lines is the value of a flag that may be repeated.
type lines struct{ list *[]string }

// Set implements [cli.Generic].
func (l lines) Set(s string) error {
	for v := range strings.SplitSeq(s, "\n") {
		if v != "" {
			*l.list = append(*l.list, v)
		}
	}
	return nil
}

// String implements [cli.Generic].
func (l lines) String() string {
	if l.list == nil {
		return ""
	}
	return strings.Join(*l.list, "\n")
}

// Env returns the environment variable of a flag: AMTRL_TARGET_SAMPLES for --target-samples.
func Env(name string) []string {
	return []string{"AMTRL_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}
}

// Resolve fills in the origins of all flags once c has been parsed.
func (s *Set) Resolve(c *cli.Context) {
	s.c = c
	names, _ := c.App.Metadata[metadataGiven].([]string)
	for _, o := range s.origins {
		o.Set, o.Given = c.IsSet(o.Name), slices.Contains(names, o.Name)
	}
}

// Names returns the names of all flags, in order.
func (s *Set) Names() []string {
	names := make([]string, len(s.origins))
	for i, o := range s.origins {
		names[i] = o.Name
	}
	return names
}

// Texts returns the values of all flags in the form that the command line takes, in order.
func (s *Set) Texts() []string {
	texts := make([]string, len(s.texts))
	for i, text := range s.texts {
		texts[i] = text()
	}
	return texts
}

// Assign gives the named flag another value, after Resolve.
func (s *Set) Assign(name, value string) error { return s.c.Set(name, value) }
