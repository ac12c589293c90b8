package study

import (
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
)

// The data decide the settings that nobody gave. The budget is that of each ask or, without one, that of all rounds.
func TestNewSettings(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	data := must.Get(columnar.OpenCandidates(f.folder, "", 0))(t)
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
	cfg.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Budget: 60, Floor: 7}
	for _, c := range []struct {
		round  float64
		given  []string
		chosen []string
		want   pipeline.Schedule
	}{
		{9, nil, []string{pipeline.SettingScaling, pipeline.SettingTargetSamples, pipeline.SettingK, pipeline.SettingFloor},
			pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 1, Budget: 9, Floor: 1}},
		{0, []string{pipeline.SettingFloor}, []string{pipeline.SettingScaling, pipeline.SettingTargetSamples, pipeline.SettingK},
			pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 5, Budget: 60, Floor: 7}},
	} {
		s, choices := NewSettings("v", "rows.yaml", data, c.round, cfg, c.given...)
		var chosen []string
		for _, choice := range choices {
			chosen = append(chosen, choice.Setting)
		}
		must.EqualSlices(t, chosen, c.chosen, "what the data chose")
		must.Equal(t, s.Config.Schedule, c.want, "the schedule")
		must.EqualSlices(t, s.Config.Methods, []string{pipeline.Active, pipeline.Target, pipeline.Constant, pipeline.Trees}, "methods")
		must.Hold(t, s.Version == "v" && s.Data.Path == "rows.yaml" && s.Target == "t" && s.RoundBudget == c.round &&
			s.Config.Sources == pipeline.SourcesPools && s.Config.TargetSamples == 12, "%+v", s)
		must.Do(t, Create(t.TempDir(), s, f.folder, data))
	}
	must.Hold(t, cfg.Schedule.Epochs == 0 && slices.Contains(cfg.Methods, pipeline.Uniform), "the settings of the caller were changed")
}
