package runs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/filelock"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

// ErrInUse is wrapped by the errors of [Run] and [Sweep] for a folder that another process, or another call, is writing.
var ErrInUse = filelock.ErrLocked

// ErrOtherSettings is wrapped by the errors of [Run], [Sweep] and [Identity.CheckRunFolder] for a folder of other work, whose settings,
// data or version differ, or with other files in it. So it is by that of study.Create.
var ErrOtherSettings = errors.New("the folder holds other work")

// Identity is what config.json holds: everything needed to repeat a run or a
// sweep. Folders resume only under the same identity, whatever the data are called.
type Identity struct {
	Version string          `json:"version"`
	Data    DataIdentity    `json:"data"`
	Backend BackendChoice   `json:"backend"`
	Config  pipeline.Config `json:"config"`
	Targets []string        `json:"targets"`
	// Seeds are run in turn, each in place of Config's own.
	Seeds []uint64 `json:"seeds"`
	// Budgets are run in turn; Config's own is then the first of them.
	Budgets []float64 `json:"budgets,omitempty"`

	// Warnings are those of the set given to NewIdentity, which a [Run] writes to its result. Where they are nil it looks for them.
	Warnings *dataset.Warnings `json:"-"`

	set *dataset.Set // the set given to NewIdentity, which need not be read again to show that it is the same
}

// DataIdentity holds the name, the content hash and the size of the data.
type DataIdentity struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Tasks  int    `json:"tasks"`
	Pools  int    `json:"pools"`
	Cols   int    `json:"cols"`
	// Columns is the hash of the names, classes and units of tables, empty where the data are not tables.
	Columns string `json:"columns,omitempty"`
}

// BackendChoice describes what computes, and why this device was chosen.
type BackendChoice struct {
	backend.Info
	// BLAS is the result of [HostBLAS].
	BLAS   string `json:"blas"`
	Reason string `json:"reason"`
}

// HostBLAS returns the name of the BLAS that computes float64 products on the host, on all devices: the one given to [blas64.Use], such as
// cpu.BLAS, or else gonum's. Their results differ by rounding.
func HostBLAS() string {
	by := blas64.Implementation()
	if named, ok := by.(fmt.Stringer); ok {
		return named.String()
	}
	return fmt.Sprintf("%T", by)
}

// NewIdentity describes work on a set with a chosen backend. It completes cfg and brings it into canonical form. Seeds holds
// the seed of cfg. The caller sets Targets, and other Seeds and Budgets where there are several. set must not be nil.
func NewIdentity(version string, set *dataset.Set, choice backend.Choice, cfg pipeline.Config) Identity {
	var device backend.Info
	if choice.Device != nil {
		device = choice.Device.Info()
	}
	return Identity{
		Version: version,
		Data:    DescribeData(set),
		Backend: BackendChoice{device, HostBLAS(), choice.Reason},
		Config:  cfg.Complete(set).Canonical(),
		Seeds:   []uint64{cfg.Seed},
		set:     set,
	}
}

// errNoData is the error of work without data.
var errNoData = errors.New("expected data on a device, found nil")

// checkResident returns an error where the data on a device differ from those of the identity in more than their name, and
// for a device, or a BLAS, other than those of the identity, whose results would have other bytes.
func (i Identity) checkResident(data *pipeline.Resident) error {
	if data == nil {
		return errNoData
	}
	here := i
	here.Backend.Info, here.Backend.BLAS = data.Device.Info(), HostBLAS()
	if difference, err := i.Difference(here); err != nil || difference != "" {
		return cmp.Or(err, fmt.Errorf("the device that holds the data: %s: expected that of the identity", difference))
	}
	if i.set == data.Set {
		return nil
	}
	if difference := i.Data.Difference(DescribeData(data.Set)); difference != "" {
		return fmt.Errorf("the data on the device: expected those of the identity: %s", difference)
	}
	return nil
}

func (d DataIdentity) String() string {
	columns := ""
	if d.Columns != "" {
		columns = fmt.Sprintf(", columns %.8s", d.Columns)
	}
	return fmt.Sprintf("%s (sha256 %.8s%s)", d.Name, d.SHA256, columns)
}

// Difference describes how the data d, "there", differ from here in more than their name. It returns "" where they are
// the same.
func (d DataIdentity) Difference(here DataIdentity) string {
	switch {
	case d.SHA256 != here.SHA256:
		return fmt.Sprintf("the data are %s of sha256 %.12s there and %s of %.12s here", d.Name, d.SHA256, here.Name, here.SHA256)
	case d.Columns != here.Columns:
		return fmt.Sprintf("the data, %s, have other names of columns, classes, words for none or units there than here", d.Name)
	}
	return ""
}

// DescribeData returns the name, the content hash and the size of a set.
func DescribeData(set *dataset.Set) DataIdentity {
	out := DataIdentity{Name: set.Name, SHA256: set.Hash(), Tasks: len(set.Tasks), Pools: len(set.Pools), Columns: set.Columns.Hash()}
	if len(set.Pools) > 0 {
		out.Cols = set.Pools[0].Cols
	}
	return out
}

// Digest returns a hash of the identity without what [Identity.Difference] ignores: the name of the data and the reason
// for choosing the backend.
func (i Identity) Digest() (string, error) {
	i.Data.Name, i.Backend.Reason = "", ""
	js, err := json.Marshal(i)
	if err != nil {
		return "", err
	}
	return HashOf(js), nil
}

func (i Identity) validate(set *dataset.Set) error {
	if err := i.Config.Validate(); err != nil {
		return err
	}
	if len(i.Targets) == 0 || len(i.Seeds) == 0 {
		return fmt.Errorf("%s and %s: expected at least one of each", text.Several(len(i.Targets), "target"),
			text.Several(len(i.Seeds), "seed"))
	}
	for _, t := range i.Targets {
		if _, err := i.Config.FindSource(set, t); err != nil {
			return err
		}
	}
	if err := cmp.Or(once("target", i.Targets), once("seed", i.Seeds)); err != nil {
		return err
	}
	for _, b := range i.Budgets {
		if i.Config.Schedule.Kind != pipeline.ScheduleBudget {
			return fmt.Errorf("a list of budgets needs schedule %s, not %s", pipeline.ScheduleBudget, i.Config.Schedule.Kind)
		}
		if !(b > 0) || math.IsInf(b, 1) {
			return fmt.Errorf("budget %g: expected a positive number", b)
		}
	}
	return once("budget", i.Budgets)
}

// Check returns the first reason why a sweep makes no sense for the data, nil where there is none.
func (i Identity) Check(set *dataset.Set) error {
	if err := i.validate(set); err != nil {
		return err
	}
	units := slices.DeleteFunc(i.Units(), func(u Unit) bool { return u.Seed != i.Seeds[0] })
	for some := range slices.Chunk(units, 4*runtime.GOMAXPROCS(0)) {
		errs := make([]error, len(some))
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		for at, u := range some {
			group.Go(func() error {
				_, errs[at] = i.problem(set, u)
				return nil
			})
		}
		group.Wait()
		if err := cmp.Or(errs...); err != nil {
			return err
		}
	}
	return nil
}

func once[E comparable](what string, list []E) error {
	seen := make(map[E]bool, len(list))
	for _, e := range list {
		if seen[e] {
			return fmt.Errorf("%s %v is listed twice", what, e)
		}
		seen[e] = true
	}
	return nil
}

// claim makes dir the folder of this work. It creates and locks dir, and writes config.json, or compares the work with
// the config.json that is there and returns the first difference as an error. The work goes on under the returned
// identity: that of the folder, whose data may have another name, with the seeds and budgets that join gives it.
func (i Identity) claim(dir string, join joining) (id Identity, unlock func(), err error) {
	if err := atomicfile.MkdirAll(dir); err != nil {
		return i, nil, err
	}
	if unlock, err = filelock.Folder(dir); err != nil {
		return i, nil, err
	}
	if id, err = i.claimLocked(dir, join); err != nil {
		unlock()
		return i, nil, err
	}
	return id, unlock, nil
}

func (i Identity) claimLocked(dir string, join joining) (Identity, error) {
	id, there, err := i.resume(dir, join)
	if err == nil && !there {
		err = jsonfile.Write(filepath.Join(dir, configFile), id)
	}
	return id, err
}

// resume returns the identity under which the work goes on in dir, and whether config.json holds it already. It returns
// an error where the folder belongs to other work.
func (i Identity) resume(dir string, join joining) (id Identity, there bool, err error) {
	found, err := ReadIdentity(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return i, false, checkOwn(dir)
	}
	if err != nil {
		return i, false, err
	}
	id, i = join(found, i)
	switch difference, err := id.Difference(i); {
	case err != nil:
		return i, false, err
	case difference != "":
		return i, false, text.Mark(fmt.Errorf("%s: %s: expected the same settings to resume; use another folder",
			filepath.Join(dir, configFile), difference), ErrOtherSettings)
	}
	return id, slices.Equal(found.Seeds, id.Seeds) && slices.Equal(found.Budgets, id.Budgets), nil
}

// CheckRunFolder returns an error for a folder of other work, as [Run] does, and for one that cannot be created or
// written to. It changes nothing.
func (i Identity) CheckRunFolder(dir string) error { return i.checkFolder(dir, asIs) }

// CheckSweepFolder is [Identity.CheckRunFolder] for [Sweep], which adds seeds and budgets to those in the folder.
func (i Identity) CheckSweepFolder(dir string) error { return i.checkFolder(dir, Identity.grow) }

func (i Identity) checkFolder(dir string, join joining) error {
	if _, err := os.Lstat(filepath.Join(dir, configFile)); err != nil {
		return cmp.Or(atomicfile.CheckFolder(dir), checkOwn(dir))
	}
	_, _, err := i.resume(dir, join)
	return err
}

// joining turns the identity in a folder and the one asked for into two that must be equal for the work to go on.
type joining func(there, here Identity) (Identity, Identity)

func asIs(there, here Identity) (Identity, Identity) { return there, here }

// completed adds the seeds and budgets of here to there, if here has all of those of there. Otherwise it changes
// nothing.
func completed(there, here Identity) (Identity, Identity) {
	grown, same := there.grow(here)
	if !slices.Equal(grown.Seeds, here.Seeds) || !slices.Equal(grown.Budgets, here.Budgets) {
		return there, here
	}
	grown.Backend.Reason = here.Backend.Reason
	return grown, same
}

// Join adds the seeds and budgets of other, and describes where the two still differ as [Identity.Difference] does.
func (i Identity) Join(other Identity) (joined Identity, where string, err error) {
	joined, other = i.grow(other)
	where, err = joined.Difference(other)
	return joined, where, err
}

// grow returns both identities with the seeds and budgets of both: in the order of other where other has all of them,
// else with those of i first. Budgets are joined only where both have them.
func (i Identity) grow(other Identity) (Identity, Identity) {
	i.Seeds = union(i.Seeds, other.Seeds)
	if len(i.Budgets) > 0 && len(other.Budgets) > 0 {
		i.Budgets = union(i.Budgets, other.Budgets)
		i.Config.Schedule.Budget, other.Config.Schedule.Budget = i.Budgets[0], i.Budgets[0]
		other.Budgets = i.Budgets
	}
	other.Seeds = i.Seeds
	return i, other
}

// union returns b if it contains all of a, else a followed by the elements of b that are not in a.
func union[E comparable](a, b []E) []E {
	if !slices.ContainsFunc(a, func(e E) bool { return !slices.Contains(b, e) }) {
		return b
	}
	return slices.Concat(a, slices.DeleteFunc(slices.Clone(b), func(e E) bool { return slices.Contains(a, e) }))
}

// ReadIdentity reads the config.json of a folder.
func ReadIdentity(dir string) (i Identity, err error) {
	path := filepath.Join(dir, configFile)
	raw, err := atomicfile.ReadFile(path, maxConfig)
	if err != nil {
		return i, err
	}
	if i, err = DecodeIdentity(raw); err != nil {
		return Identity{}, fmt.Errorf("%s: %w", path, err)
	}
	return i, nil
}

// DecodeIdentity reads a config.json. A field that it does not know is an error.
func DecodeIdentity(raw []byte) (Identity, error) {
	var i Identity
	if err := jsonfile.Decode(raw, &i); err != nil {
		return Identity{}, err
	}
	return i, i.Config.Validate()
}
