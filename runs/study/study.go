package study

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/lease"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// The files of the folder of a study.
const (
	settingsFile = runs.StudyFile
	journalFile  = "journal.jsonl"
	asksDir      = "asks"
	roundsDir    = "rounds"
)

const maxSettings = 64 << 20

// Settings is the content of study.json, which never changes.
type Settings struct {
	Version string `json:"version"`
	Data    Data   `json:"data"`
	Target  string `json:"target"`
	// RoundBudget is the most that each ask may cost. Where it is 0, the schedule of Config says how much has been spent after each round.
	RoundBudget float64 `json:"round_budget,omitempty"`
	// Config is as [NewSettings] returns it: complete and canonical for the set of the candidates, with a schedule of a budget (where
	// RoundBudget is not 0, this budget in one epoch), with sources that are pools, and with methods that [Methods] keeps.
	Config pipeline.Config `json:"config"`
}

// Data says where the data are, and identifies them.
type Data struct {
	// Path is the manifest or the folder of an import. Create fills in the other fields.
	Path string `json:"path"`
	// Name is the name of the set.
	Name string `json:"name,omitempty"`
	// Key is the key of the import, SHA256 the hash of its content. An import with another key and the same content has the same data.
	Key    string `json:"key"`
	SHA256 string `json:"sha256"`
	// Classes are the classes of each output, to which a [TellEvent] may add others.
	Classes [][]string `json:"classes,omitempty"`
	// AskTarget says that the target's samples are asked for where they have no labels.
	AskTarget bool `json:"ask_target,omitempty"`
}

// Study is an open study with its folder, and its data once they are attached. [Open] makes one. Once attached, it can be used by several
// goroutines: as other processes do, they wait for each other where they write.
type Study struct {
	Dir      string
	Settings Settings
	// Note is called with messages for the user, such as that an incomplete line of the journal was set aside.
	Note func(format string, args ...any)
	// DataAt is the name of the data in messages, by default Settings.Data.Path.
	DataAt string

	data *columnar.Candidates
	// folder is the folder of the import, listed are the classes that the import lists.
	folder string
	listed [][]string
	id     string // the hash of study.json
	// places maps the name of each source to the index of its pool.
	places map[string]int
	// numbers are numbers of rows that [Study.Verify] takes in place of those in the data: the rows of other sources may have moved.
	numbers map[runs.RowID]int64
	now     func() time.Time
	times   lease.Timing
}

// methods are the methods of a study: the others need labels that nobody has asked for. Trees and kernels have the rows of active.
var methods = []string{pipeline.Active, pipeline.Target, pipeline.Constant, pipeline.Trees, pipeline.Kernel}

// Methods returns the methods of a list, which begins with active, that a study carries out.
func Methods(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(m string) bool { return !slices.Contains(methods, m) })
}

// NewSettings returns the settings of a study of data by cfg, completed by what the data decide, and the choices that this made. Settings
// named in given are left alone, as by [pipeline.Config.Fit]. roundBudget is what the rows of each ask may cost; where it is 0, the budget
// and the epochs of cfg are those of the whole study. path is where the data are, and data must not be nil.
func NewSettings(version, path string, data *columnar.Candidates, roundBudget float64, cfg pipeline.Config, given ...string) (
	Settings, []pipeline.Choice) {
	target := data.Set.Pools[data.Target].Name
	if roundBudget != 0 {
		cfg.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 1, Floor: cfg.Schedule.Floor, Budget: roundBudget}
	}
	cfg.Sources = pipeline.SourcesPools
	cfg, choices := cfg.Fit(data.Set, []string{target}, append(slices.Clone(given), pipeline.SettingSchedule)...)
	cfg = cfg.Complete(data.Set).Canonical()
	cfg.Methods = Methods(cfg.Methods)
	return Settings{Version: version, Data: Data{Path: path}, Target: target, RoundBudget: roundBudget, Config: cfg}, choices
}

// errNoData is the error of a study without data.
var errNoData = errors.New("expected the data of the study, found nil")

// Create makes the folder of a study. It changes nothing where the folder is there with the same settings and the same content of the data,
// whatever version of amtrl made it. Any other folder that is not empty is an error, which wraps [runs.ErrOtherSettings]. data are the data
// of the settings, opened from folder.
func Create(dir string, s Settings, folder string, data *columnar.Candidates) error {
	if data == nil {
		return errNoData
	}
	var err error
	if s.Data.SHA256, err = columnar.Digest(folder); err != nil {
		return err
	}
	s.Data.Name, s.Data.Key, s.Data.AskTarget, s.Data.Classes = data.Set.Name, data.Key, data.AskTarget, classesOf(data.Outputs)
	st := &Study{Dir: dir, Settings: s, data: data}
	if err := st.check(); err != nil {
		return err
	}
	raw, err := jsonfile.Encode(s)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, settingsFile)
	found, err := atomicfile.ReadFile(path, maxSettings)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	again := err == nil && s.equal(found)
	if !again {
		if err := checkEmpty(dir); err != nil {
			return err
		}
	}
	for _, d := range []string{dir, filepath.Join(dir, asksDir), filepath.Join(dir, roundsDir)} {
		if err := atomicfile.MkdirAll(d); err != nil {
			return err
		}
	}
	if again {
		return nil
	}
	return atomicfile.Write(path, raw)
}

// equal reports whether raw, another study.json, has the same settings, apart from the version that made it and the key of an import of the
// same content.
func (s Settings) equal(raw []byte) bool {
	var other Settings
	if jsonfile.Decode(raw, &other) != nil {
		return false
	}
	other.Version, other.Data.Key = s.Version, s.Data.Key
	a, errA := jsonfile.Encode(s)
	b, errB := jsonfile.Encode(other)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// checkEmpty returns an error where a folder holds anything besides what a killed Create left.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if name := e.Name(); name != asksDir && name != roundsDir && !atomicfile.IsTemporary(name) {
			return text.Mark(fmt.Errorf("%s: expected no folder or an empty one, found %s in it; nothing was written", dir, name),
				runs.ErrOtherSettings)
		}
	}
	return err
}

func (s *Study) check() error {
	cfg := &s.Settings.Config
	switch b := s.Settings.RoundBudget; {
	case b != 0 && (!(b > 0) || math.IsInf(b, 1)):
		return fmt.Errorf("round budget %g: expected a positive number", b)
	case cfg.Schedule.Kind != pipeline.ScheduleBudget:
		return fmt.Errorf("schedule %s: expected a budget for each round, or one in all", cfg.Schedule.Kind)
	case cfg.Sources != pipeline.SourcesPools:
		return fmt.Errorf("sources %s: expected %s, of which a row has one label", cmp.Or(cfg.Sources, pipeline.SourcesTasks),
			pipeline.SourcesPools)
	case cfg.IncludeTarget:
		return errors.New("include target: a study asks for the target's samples apart")
	case len(cfg.Methods) == 0 || cfg.Methods[0] != pipeline.Active || len(Methods(cfg.Methods)) < len(cfg.Methods):
		return fmt.Errorf("methods %v: expected %s first, and of the others %v", cfg.Methods, pipeline.Active, methods[1:])
	}
	p, err := s.problem(1)
	if err != nil {
		return err
	}
	st, err := s.replay(nil)
	if err != nil {
		return err
	}
	if cfg.Head.Prior != pipeline.PriorResidual && len(st.samples(p, 1).Test.Rows) == 0 {
		return fmt.Errorf("prior %s: expected %s, whose scores leave one out, or labelled rows of the target that are held out", cfg.Head.Prior,
			pipeline.PriorResidual)
	}
	return nil
}

// Is reports whether dir is the folder of a study.
func Is(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, settingsFile))
	return err == nil
}

// Open reads the settings of a study from its folder. [Study.Attach] then gives the study its data. The error for a folder that is no study
// wraps [fs.ErrNotExist].
func Open(dir string) (*Study, error) {
	path := filepath.Join(dir, settingsFile)
	raw, err := atomicfile.ReadFile(path, maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, text.Mark(fmt.Errorf("%s is no study: expected a folder with %s", dir, settingsFile), fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	s := &Study{Dir: dir, id: runs.HashOf(raw), now: time.Now, times: lease.Times, Note: func(string, ...any) {}}
	if err := jsonfile.Decode(raw, &s.Settings); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// ErrOtherData is wrapped by the error of [Study.Attach] for other data than those of the study.
var ErrOtherData = errors.New("other data than those of the study")

// Attach opens the data of a study from the folder of an import. Other data than those of the study are an error, which leaves the study as
// it was. The import may list more classes than the study has; [Study.Tell] adds them once a label has one of them.
func (s *Study) Attach(folder string) error {
	next := *s
	next.folder = folder
	var err error
	if next.data, err = next.openData(nil); err != nil {
		return err
	}
	next.listed = classesOf(next.data.Outputs)
	if next.data.Key != s.Settings.Data.Key {
		found, err := columnar.Digest(folder, s.Settings.Data.Classes...)
		if err != nil {
			return err
		}
		if found != s.Settings.Data.SHA256 {
			return text.Mark(fmt.Errorf("%s: expected the data of the study, sha256 %s, found %s: its rows, sources, costs, labels and features "+
				"stay as they were; new labels are told, and so are new classes, which the manifest may list",
				cmp.Or(s.DataAt, s.Settings.Data.Path), s.Settings.Data.SHA256[:12], found[:12]), ErrOtherData)
		}
		if next.data, err = next.openData(s.Settings.Data.Classes); err != nil {
			return err
		}
	}
	next.places = map[string]int{}
	for i, p := range next.data.Set.Pools {
		next.places[p.Name] = i
	}
	*s = next
	return nil
}

// ErrNotAttached is the error of a method that needs the data before [Study.Attach] was called.
var ErrNotAttached = errors.New("the study has no data yet: expected Attach before")

// ErrNothingLearned is wrapped by the error of [Study.LatestRound] before the first round.
var ErrNothingLearned = errors.New("nothing was learned yet")

// LatestRound returns the folder of the last round that was learned.
func (s *Study) LatestRound() (string, error) {
	j, err := s.readWhole()
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(j.events) {
		if e.Fit != nil {
			return s.RoundDir(e.Fit.Round), nil
		}
	}
	return "", text.Mark(fmt.Errorf("%s has learned nothing yet", s.Dir), ErrNothingLearned)
}

// RoundDir returns the folder of a round, counted from 1. It has the form of the folder of a run.
func (s *Study) RoundDir(round int) string {
	return filepath.Join(s.Dir, roundsDir, fmt.Sprintf("%04d", round))
}

// askPath returns the path of the table of an ask, counted from 1.
func (s *Study) askPath(number int) string {
	return filepath.Join(s.Dir, asksDir, fmt.Sprintf("%04d.csv", number))
}

// lock acquires the folder of the study, or that of its rounds, for this process alone, and waits until it is free.
func (s *Study) lock(ctx context.Context, dir string) (*lease.Lease, error) {
	const poll, patience = 20 * time.Millisecond, 100
	for tries := 0; ctx.Err() == nil; tries++ {
		l, err := lease.Acquire(ctx, dir, 0, s.times, func(error) {}) // who writes checks that the lease is still held
		switch {
		case err == nil:
			return l, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !lease.IsInUse(err):
			return nil, err
		case tries == patience:
			s.Note("%s is %s: waiting", dir, err)
		}
		lease.Sleep(ctx, poll)
	}
	return nil, ctx.Err()
}
