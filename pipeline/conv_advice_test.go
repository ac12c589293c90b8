package pipeline

import (
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A network is advised for images with classes once enough samples were drawn, where a network supports the data and the linear class is in
// use.
func TestAdvisesConv(t *testing.T) {
	rng := testrand.New(t)
	for _, test := range []struct {
		what    string
		samples int
		classes bool
		change  func(*Config, *dataset.Set)
		want    bool
	}{
		{"images", fewestForConv, true, nil, true},
		{"few samples", fewestForConv - 1, true, nil, false},
		{"pools", fewestForConv / 2, true, func(c *Config, _ *dataset.Set) { c.Sources = SourcesPools }, true},
		{"few samples of pools", fewestForConv/2 - 1, true, func(c *Config, _ *dataset.Set) { c.Sources = SourcesPools }, false},
		{"numbers", fewestForConv, false, nil, false},
		{"no images", fewestForConv, true, func(_ *Config, s *dataset.Set) { s.Pools[1].Height, s.Pools[1].Width = 0, 0 }, false},
		{"images of two sizes", fewestForConv, true, func(_ *Config, s *dataset.Set) { s.Pools[1].Height = 4 }, false},
		{"a wide representation", fewestForConv, true, func(c *Config, s *dataset.Set) { c.K = 64 * shopSide * shopSide }, false},
		{"the paper's regime", fewestForConv, true, func(c *Config, s *dataset.Set) { c.Intercept = false }, false},
		{"a network", fewestForConv, true, func(c *Config, s *dataset.Set) { c.Representation = ClassConv }, false},
	} {
		cfg := must.Get(NewConfig(PresetDefault))(t)
		cfg.K = 4
		set := imageShops(rng, 3, 20, test.classes)
		if test.change != nil {
			test.change(&cfg, set)
		}
		p := &Problem{Set: set, Config: cfg}
		must.Equal(t, p.AdvisesConv(test.samples), test.want, "%s", test.what)
	}
}
