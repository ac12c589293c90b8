package study

import (
	"context"
	"slices"

	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/pipeline"
)

// classesOf returns the classes of each output, or nil where all outputs are numbers.
func classesOf(outputs []columnar.Output) [][]string {
	var all [][]string
	some := false
	for _, o := range outputs {
		all, some = append(all, o.Classes), some || len(o.Classes) > 0
	}
	if !some {
		return nil
	}
	return all
}

// openData opens the data with these classes of each output; nil stands for the classes that the data list.
func (s *Study) openData(classes [][]string) (*columnar.Candidates, error) {
	samples := 0
	if s.Settings.Data.AskTarget {
		samples = s.Settings.Config.TargetSamples
	}
	data, err := columnar.OpenCandidates(s.folder, s.Settings.Target, samples, classes...)
	if err == nil && s.Settings.Data.Name != "" {
		data.Set.Name = s.Settings.Data.Name
	}
	return data, err
}

// after returns a copy of the study as it was after these events, with its classes of that time: those of the settings, and those that the
// events added.
func (s *Study) after(events []Event) (*Study, error) {
	then := *s
	classes := slices.Clone(s.Settings.Data.Classes)
	for _, e := range events {
		if e.Tell == nil {
			continue
		}
		for c, more := range e.Tell.Classes {
			if c < len(classes) {
				classes[c] = slices.Concat(classes[c], more)
			}
		}
	}
	if slices.EqualFunc(classes, classesOf(s.data.Outputs), slices.Equal[[]string]) || classes == nil {
		return &then, nil
	}
	var err error
	then.data, err = s.openData(classes)
	return &then, err
}

// newClasses returns, for each output, the classes that the data list and the study does not have yet, and whether there are any.
func (s *Study) newClasses() (more [][]string, some bool) {
	if s.Settings.Data.Classes == nil {
		return nil, false
	}
	for c, o := range s.data.Outputs {
		more = append(more, slices.DeleteFunc(slices.Clone(s.listed[c]), func(name string) bool { return slices.Contains(o.Classes, name) }))
		some = some || len(more[c]) > 0
	}
	return more, some
}

// outputs returns the outputs with all classes that a label may have: those of the study and those of newClasses.
func (s *Study) outputs() []columnar.Output {
	more, some := s.newClasses()
	if !some {
		return s.data.Outputs
	}
	all := slices.Clone(s.data.Outputs)
	for c := range all {
		all[c].Classes = slices.Concat(all[c].Classes, more[c])
	}
	return all
}

// admit converts the labels of answers, read with some classes for each output, into labels of the study. Where an answer has one of the
// newClasses, it adds all of these to the study, which must be a copy for one call alone, and returns them; otherwise it returns nil.
func (s *Study) admit(answers []answer, read []columnar.Output) ([][]string, error) {
	all, late := s.outputs(), false
	for i := range answers {
		for c, v := range answers[i].values {
			if v != v || len(read[c].Classes) == 0 {
				continue
			}
			at := slices.Index(all[c].Classes, read[c].Classes[int(v)])
			answers[i].values[c] = float32(at)
			late = late || at >= len(s.data.Outputs[c].Classes)
		}
	}
	if !late {
		return nil, nil
	}
	more, _ := s.newClasses()
	data, err := s.openData(classesOf(all))
	if err == nil {
		s.data = data
	}
	return more, err
}

// relearn learns the rounds of fits again, each from its own labels but with the classes of now, and returns the state after the last one.
// The next round cannot begin from models of other classes.
func (s *Study) relearn(ctx context.Context, data *pipeline.Resident, events []Event, fits []*FitEvent) (st pipeline.State, err error) {
	for i, fit := range fits {
		then, err := s.replay(events[:fit.Upto])
		if err != nil {
			return st, err
		}
		p, err := s.problem(i + 1)
		if err != nil {
			return st, err
		}
		in := then.samples(p, i+1)
		if p.Config.Head.Prior == pipeline.PriorResidual {
			in.Test = pipeline.Labelled{}
		}
		l, err := pipeline.NewLearner(data, p)
		if err != nil {
			return st, err
		}
		st, err = l.Learn(ctx, st, in)
		l.Close()
		if err != nil {
			return st, err
		}
	}
	return st, nil
}
