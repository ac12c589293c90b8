package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/pipeline"
)

// Result is the outcome of all methods for one target and seed.
type Result struct {
	Data   string  `json:"data"`
	Target string  `json:"target"`
	Seed   uint64  `json:"seed"`
	Budget float64 `json:"budget,omitempty"`
	// Methods are in the order of Config.Methods.
	Methods []MethodResult `json:"methods"`
	// Recommended is the method whose model is model.safetensors. It is the first method, unless another makes the
	// labels of the target's samples, left out one at a time, e^3 times as likely: then it is the one that makes them
	// likeliest. Reason says how well each method does, by Criterion. With too few samples it is the first method, and
	// Reason says so. All three are empty, and the model is the first method's, where heads are fitted in a way that has no
	// leave-one-out residuals.
	Recommended string    `json:"recommended,omitempty"`
	Criterion   Criterion `json:"criterion,omitempty"`
	Reason      string    `json:"reason,omitempty"`
	// TooFew reports that Recommended is the first method because the samples are too few.
	TooFew bool `json:"too_few,omitempty"`
	// Contradicted compares the method that is best on the test rows, A, with Recommended, B, where the interval leaves
	// out 0. Test rows choose nothing, or scores would be too good.
	Contradicted *pipeline.Comparison `json:"contradicted,omitempty"`
	// Doubt says why Recommended may be no better than a constant prediction, or that it errs no less than the target's
	// samples alone. It is empty otherwise, and where the samples are too few to tell.
	Doubt string `json:"doubt,omitempty"`
	// Dominant is a sample of the target that makes most of the error of Recommended, nil where there is none.
	Dominant *Dominant `json:"dominant,omitempty"`
	// Overlooked lists the classes that Recommended, or the first method, hardly predicts, for want of samples of the target.
	Overlooked []pipeline.Overlooked `json:"overlooked,omitempty"`
	// Earlier is a round of the first method before its last one that makes the target's samples much likelier. It is
	// nil where there is none, and where labels are classes.
	Earlier *EarlierRound `json:"earlier,omitempty"`
	// ConvAdvised reports that a network would probably err less. See [pipeline.Problem.AdvisesConv].
	ConvAdvised bool `json:"conv_advised,omitempty"`
	// Warnings say what in the data makes results wrong, or errors look too small (see [dataset.Set.Warnings]), after those of
	// [pipeline.Problem.UnseenClasses]. A run has them, a unit of a sweep does not, and a round of a study has those of
	// [pipeline.Problem.UnseenIn] and [dataset.Set.SharedGroups].
	Warnings []dataset.Oddity `json:"warnings,omitempty"`
	// Groups is the number of groups of rows that belong together among the target's samples, 0 where each is on its
	// own. CountAs is the number of samples on their own that they count as in the choice of Recommended. See
	// [pipeline.Problem.Groups].
	Groups  int     `json:"groups,omitempty"`
	CountAs float64 `json:"count_as,omitempty"`
	// Comparisons compare the first method with each other one over the test rows, and then Recommended with Target where
	// these are two methods, the first not being Recommended. There are none where the score is exact.
	Comparisons []pipeline.Comparison `json:"comparisons,omitempty"`
	// Sources are the sources in descending order of |nu| of the first method.
	Sources []SourceResult `json:"sources"`
	// Files holds the SHA-256 of config.json, epochs.jsonl, model.safetensors, relevance.csv, rows.csv and, where there
	// is one, evaluation.jsonl in the folder of a run. A unit of a sweep has none.
	Files Hashes `json:"files,omitempty"`
	// SHA256 is the checksum of result.json in the folder of a run, or of the file of a unit in that of a sweep, with zeros in its own place.
	SHA256 string `json:"sha256,omitempty"`
}

// encode returns the content of result.json, or of the file of a unit, with its checksum, which it sets.
func (r *Result) encode() ([]byte, error) {
	return jsonfile.EncodeSealed(jsonfile.Encode, r, &r.SHA256)
}

// MethodResult describes the last epoch of a method; Iterations counts all epochs.
type MethodResult struct {
	Method     string  `json:"method"`
	Samples    int     `json:"samples"`
	Cost       float64 `json:"cost"`
	Epochs     int     `json:"epochs"`
	Iterations int     `json:"iterations"`
	Objective  float64 `json:"objective"`
	TargetLoss float64 `json:"target_loss"`
	// LeaveOneOut is the mean squared leave-one-out residual of the target's samples. Over several columns of numbers
	// it is the geometric mean of these residuals divided by the variance of the labels.
	LeaveOneOut float64 `json:"leave_one_out,omitempty"`
	// LogLoss is the negative log-probability of the classes of all of the target's samples, each left out, if a
	// fraction WrongLabels of labels is noise. See [pipeline.Epoch.LikeliestNoise].
	LogLoss     float64 `json:"log_loss,omitempty"`
	WrongLabels float64 `json:"wrong_labels,omitempty"`
	// Trees holds the part of trees in the predictions of each of the target's columns. It is nil where it is 0 for all,
	// and for the method trees.
	Trees []float64 `json:"trees,omitempty"`
	// Kernel is that of a Gaussian kernel at rows of the round.
	Kernel []float64      `json:"kernel,omitempty"`
	Score  pipeline.Score `json:"score"`
	// Interval is the 95 % interval of Score for other rows like the Rows that it was measured on. There is none, and
	// Rows is 0, where the score is exact. See [ScoreInterval].
	Interval *[2]float64 `json:"interval,omitempty"`
	Rows     int         `json:"rows,omitempty"`
	// Groups is the number of groups that the Rows belong to, 0 where each is on its own.
	Groups int `json:"groups,omitempty"`
	// Rounds are the rounds of a method that has several. There are none where the score is exact.
	Rounds []RoundResult `json:"rounds,omitempty"`
}

// RoundResult is the score after a round of a method.
type RoundResult struct {
	Samples  int         `json:"samples"`
	Cost     float64     `json:"cost"`
	Value    float64     `json:"value"`
	Interval *[2]float64 `json:"interval,omitempty"`
	// Rows is the number of rows that Value was measured on where these are not those of the last round, as in a study whose target got more
	// samples since: the two values cannot be compared. It is 0 otherwise.
	Rows int `json:"rows,omitempty"`
}

// EarlierRound is a round that makes the target's samples, each left out, e^3 times as likely as the last round does,
// or more: the samples drawn since have hardly helped.
type EarlierRound struct {
	Round   int `json:"round"`
	Samples int `json:"samples"`
	// LeaveOneOut is the mean squared leave-one-out residual of the round, as in MethodResult for the last round.
	LeaveOneOut float64 `json:"leave_one_out"`
}

// SourceResult is the outcome of a run for one source.
type SourceResult struct {
	Source string `json:"source"`
	// Nu is the relevance after the last epoch.
	Nu float64 `json:"nu"`
	// Share is the fraction of the next epoch's budget that the source would get if it had rows enough.
	Share float64 `json:"share"`
	// By is what most of Share is due to where that is not Nu: "exploration", or "even" where nothing distinguishes the
	// sources. See [pipeline.Allocation.DueTo].
	By string `json:"by,omitempty"`
	// Samples is the number of samples drawn by the end of the last epoch.
	Samples int `json:"samples"`
	// Next is the number of rows that the next ask of a study, of the budget of its rounds, would be for right after the round. Sources keep
	// their rows in a study, so that those with more than their share get none. It is 0 for a run.
	Next int `json:"next,omitempty"`
	// AllDrawn reports that these are all rows that the source can give, so that its share goes to others.
	AllDrawn bool `json:"all_drawn,omitempty"`
	// SourceIntervals is nil where the last round has no [pipeline.Uncertainty], as with preset paper.
	*SourceIntervals
}

// SourceIntervals holds the 90 % intervals of a source's relevance and share, and the probability that the source is
// among the five most relevant. See [pipeline.Uncertainty].
type SourceIntervals struct {
	NuLow     float64 `json:"nu_low"`
	NuHigh    float64 `json:"nu_high"`
	ShareLow  float64 `json:"share_low"`
	ShareHigh float64 `json:"share_high"`
	TopFive   float64 `json:"top_five"`
}

// Method returns the result of the named method, or nil.
func (r *Result) Method(name string) *MethodResult {
	i := slices.IndexFunc(r.Methods, func(m MethodResult) bool { return m.Method == name })
	if i < 0 {
		return nil
	}
	return &r.Methods[i]
}

// Check returns an error for the result of another unit or of other methods.
func (r *Result) Check(u Unit, methods []string) error {
	if found := (Unit{r.Target, r.Seed, r.Budget}); found != u {
		return fmt.Errorf("expected the result of %s, found that of %s", u.Name(), found.Name())
	}
	for i, m := range methods {
		if len(r.Methods) != len(methods) || r.Methods[i].Method != m {
			return fmt.Errorf("expected results of the methods %v, found %d results", methods, len(r.Methods))
		}
	}
	return nil
}

// readResult reads the finished result of a unit. It returns nil where the file is absent, empty, cut short, or has
// another checksum: then the unit is not finished.
func readResult(path string, u Unit, methods []string) (*Result, error) {
	raw, err := atomicfile.ReadFile(path, maxResult)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !json.Valid(raw) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var res Result
	if err = jsonfile.Decode(raw, &res); err == nil {
		if jsonfile.CheckSeal(raw, res.SHA256) != nil {
			return nil, nil
		}
		err = res.Check(u, methods)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &res, nil
}
