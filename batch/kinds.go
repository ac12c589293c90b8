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
	// Name selects the engine and is stored in run folders; Title is its name in texts.
	Name, Title string
	// Ignores lists the resources that the engine has no use for, by the names of their flags.
	Ignores []string
	// Interval is the time to leave between two queries, to spare the engine and those who run it.
	Interval time.Duration
	// SaveSignals are the signals by which the engine asks a task to save.
	SaveSignals []os.Signal
	// NewOptions returns empty options.
	NewOptions func() Options
}

// Options holds an engine's own options. A submission keeps them as JSON.
type Options interface {
	// List describes the options that a user can set, each bound to its field. An option that changes another comes before it.
	List() []Option
	// Engine makes the engine of a run folder. An [*OptionError] says which option cannot be used.
	Engine(dir string) (Engine, error)
}

// Option is an option of an engine and the place where its value is stored.
type Option struct {
	// Name is the name of its flag, without the dashes.
	Name, Usage string
	// Default is shown in help texts, where it says more than the empty value.
	Default string
	// Value is a *string, a *bool, a **int, or a *[]string where it can be repeated.
	Value any
	// Changed is called after the value was set; nil if nothing follows from it.
	Changed func()
}

// OptionError is the error of an engine option that cannot be used.
type OptionError struct {
	// Option is the name of its flag, without the dashes.
	Option string
	// Problem follows the flag and says what was expected and what was found.
	Problem string
}

func (e *OptionError) Error() string { return "--" + e.Option + e.Problem }

// Preparer is an [Engine] that must check or settle more before the first job than its options show.
type Preparer interface {
	// Prepare returns an [*OptionError] if the engine could not take a submission like s, whose tasks and program may
	// be missing. It also fixes, for later queries, settings that would otherwise depend on the surroundings. Any other
	// error means that these could not be fixed; Render may work all the same.
	Prepare(ctx context.Context, s Submission) error
}

// Warner is an [Engine] that may be warned about a part that it checks or hands over with success.
type Warner interface {
	// Warnings returns what it was warned of since the last call, each once and in one line.
	Warnings() []string
}

// Kinds lists the engines that a program knows.
type Kinds []Kind

// Find returns the engine with this name, and whether there is one.
func (k Kinds) Find(name string) (Kind, bool) {
	for _, kind := range k {
		if kind.Name == name {
			return kind, true
		}
	}
	return Kind{}, false
}

// Names returns the names of the engines, in order.
func (k Kinds) Names() []string {
	var names []string
	for _, kind := range k {
		names = append(names, kind.Name)
	}
	return names
}

// Open makes the engine of an earlier submission again. It is an [Opener].
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

// ReadOptions decodes the options that a submission kept. If saved is empty, it returns empty options.
func (k *Kind) ReadOptions(saved json.RawMessage) (Options, error) {
	o := k.NewOptions()
	if len(saved) == 0 {
		return o, nil
	}
	return o, jsonfile.Decode(saved, o)
}
