package runs

import (
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

var (
	smallSet    = pipelinetest.SmallSet
	smallImages = pipelinetest.SmallImages
	features    = pipelinetest.Features
	wide        = pipelinetest.Wide
	multiply    = pipelinetest.Multiply
	near        = pipelinetest.Near
	b2i         = pipelinetest.Int
	dot         = pipelinetest.Dot
)

func smallConfig() pipeline.Config { return pipelinetest.Decode[pipeline.Config](pipelinetest.Config) }

func smallConvConfig() pipeline.Config {
	return pipelinetest.Decode[pipeline.Config](pipelinetest.ConvConfig)
}

func openDevice(t testing.TB, threads int, set *dataset.Set) *pipeline.Resident {
	t.Helper()
	return pipelinetest.Open(t, threads, set, pipeline.NewResident)
}
