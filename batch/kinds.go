package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/amtrl/amtrl/internal/jsonfile"
)

// Kind is an engine that can be chosen by name.
type Kind struct {
	// Name chooses it and is kept in run folders; Title is its name in texts.
	Name, Title string
	// Program is amtrl where its tasks run by default, this program if empty.
	Program string
	// Ignores names the resources that it has no use for, as their flags do.
	Ignores []string
	// Interval is the time between two questions that spares it, or whoever runs it.
	Interval time.Duration
	// SaveSignals are those by which it asks a task to save.
	SaveSignals []os.Signal
	// NewOptions returns empty options.
	NewOptions func() Options
}

// Options are an engine's own options. A submission keeps them as JSON.
type Options interface {
	// List describes the options that a user can set, each bound to its field. An
	// option that changes another comes before it.
	List() []Option
	// Engine makes the engine of a run folder. An [*OptionError] says which option cannot be used.
	Engine(dir string) (Engine, error)
}

// Option is an option of an engine and where its value goes.
type Option struct {
	// Name is that of its flag, without the dashes.
	Name, Usage string
	// Default is shown in help texts where it says more than the empty value.
	Default string
	// Value is a *string, a *bool, a **int, or a *[]string where it can be repeated.
	Value any
	// Changed is called after the value was set, nil where nothing follows from it.
	Changed func()
}

// OptionError is an option of an engine that cannot be used.
type OptionError struct {
	// Option is its flag without the dashes.
	Option string
	// Problem follows the flag and says what was expected and what was found.
	Problem string
}

func (e *OptionError) Error() string { return "--" + e.Option + e.Problem }

// Preparer is an [Engine] that has more to check or to settle before the first job than its options show.
type Preparer interface {
	// Prepare refuses with an [*OptionError] what the engine could not take of a submission like s, whose tasks and
	// program may be missing, and settles for later questions what is otherwise left to the surroundings. Any other
	// error means that this could not be settled; Render may work all the same.
	Prepare(ctx context.Context, s Submission) error
}

// Kinds are the engines that a program knows.
type Kinds []Kind

// Find is the engine of a name.
func (k Kinds) Find(name string) (Kind, bool) {
	for _, kind := range k {
		if kind.Name == name {
			return kind, true
		}
	}
	return Kind{}, false
}

// Names are the engines' names.
func (k Kinds) Names() []string {
	var names []string
	for _, kind := range k {
		names = append(names, kind.Name)
	}
	return names
}

// Open makes the engine of a submission again. It is an [Opener].
func (k Kinds) Open(dir string, set Settings) (Engine, error) {
	kind, ok := k.Find(set.Engine)
	if !ok {
		return nil, fmt.Errorf("%s: unknown engine %q: expected %s", dir, set.Engine, strings.Join(k.Names(), ", "))
	}
	o, err := kind.ReadOptions(set.Options)
	if err != nil {
		return nil, fmt.Errorf("%s: options of %s: %w", dir, set.Engine, err)
	}
	return o.Engine(dir)
}

// ReadOptions reads options that a submission kept; there may be none.
func (k *Kind) ReadOptions(saved json.RawMessage) (Options, error) {
	o := k.NewOptions()
	if len(saved) == 0 {
		return o, nil
	}
	return o, jsonfile.Decode(saved, o)
}
