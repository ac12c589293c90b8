package pipeline

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// Result is the outcome of all methods for one target and seed.
type Result struct {
	Data   string  `json:"data"`
	Target string  `json:"target"`
	Seed   uint64  `json:"seed"`
	Budget float64 `json:"budget,omitempty"`
	// Methods are in the order of Config.Methods.
	Methods []MethodResult `json:"methods"`
	// Sources are the sources in order of falling |nu| of the first method.
	Sources []SourceResult `json:"sources"`
}

// MethodResult is the last epoch of a method; Iterations counts all epochs.
type MethodResult struct {
	Method     string  `json:"method"`
	Samples    int     `json:"samples"`
	Cost       float64 `json:"cost"`
	Epochs     int     `json:"epochs"`
	Iterations int     `json:"iterations"`
	Objective  float64 `json:"objective"`
	TargetLoss float64 `json:"target_loss"`
	Score      Score   `json:"score"`
}

// SourceResult is what a run says about one source.
type SourceResult struct {
	Source string `json:"source"`
	// Nu is the relevance after the last epoch.
	Nu float64 `json:"nu"`
	// Share is the fraction of the next epoch's budget that Nu would give it.
	Share float64 `json:"share"`
	// Samples is the number drawn by the last epoch.
	Samples int `json:"samples"`
}

// Method returns the result of the named method, or nil.
func (r *Result) Method(name string) *MethodResult {
	for i := range r.Methods {
		if r.Methods[i].Method == name {
			return &r.Methods[i]
		}
	}
	return nil
}

// result sums the finished unit up.
func (u *unit) result(epochs []Epoch) Result {
	set := u.dev.Set
	res := Result{Data: set.Name, Target: set.Tasks[u.target].Name, Seed: u.cfg.Seed}
	if u.cfg.Schedule.Kind == ScheduleBudget {
		res.Budget = u.cfg.Schedule.Budget
	}
	var first *Epoch
	for i := range epochs {
		e := &epochs[i]
		m := res.Method(e.Method)
		if m == nil {
			res.Methods = append(res.Methods, MethodResult{Method: e.Method})
			m = &res.Methods[len(res.Methods)-1]
		}
		m.Samples, m.Cost, m.Epochs = e.Samples, e.Cost, e.Epoch
		m.Iterations += e.Fit.Iterations
		m.Objective, m.TargetLoss, m.Score = e.Fit.Objective, e.TargetLoss, e.Score
		if e.Method == epochs[0].Method {
			first = e
		}
	}
	rates := u.cfg.Allocation.rates(first.Nu, u.costs)
	for i, s := range u.sources {
		res.Sources = append(res.Sources, SourceResult{set.Tasks[s].Name, first.Nu[i], rates[i] * u.costs[i], first.Counts[i]})
	}
	slices.SortStableFunc(res.Sources, func(a, b SourceResult) int {
		return cmp.Compare(math.Abs(b.Nu), math.Abs(a.Nu))
	})
	return res
}

// encodeEpochs is epochs.jsonl.
func encodeEpochs(epochs []Epoch) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for i := range epochs {
		if err := enc.Encode(&epochs[i]); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// encodeRelevance is relevance.csv.
func encodeRelevance(sources []SourceResult) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	rows := [][]string{{"source", "nu", "share", "samples"}}
	for _, s := range sources {
		rows = append(rows, []string{s.Source, strconv.FormatFloat(s.Nu, 'g', -1, 64), strconv.FormatFloat(s.Share, 'g', -1, 64), strconv.Itoa(s.Samples)})
	}
	err := w.WriteAll(rows)
	return out.Bytes(), err
}

// encodeModel is model.safetensors: the tensors of the representation, the heads
// of the sources as the M by K matrix W', the target's head.
func (u *unit) encodeModel(st *state) ([]byte, error) {
	names := make([]string, len(u.sources))
	for i, s := range u.sources {
		names[i] = u.dev.Set.Tasks[s].Name
	}
	sources, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	tensors := append(u.model.tensors(st.Theta), tensor{"target.weight", []int{1, u.cfg.K}, st.Head})
	return encodeSafetensors(tensors, map[string]string{"format": "amtrl", "target": u.dev.Set.Tasks[u.target].Name, "sources": string(sources), "method": st.Epochs[len(st.Epochs)-1].Method})
}
