package regress

import (
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

var (
	near         = pipelinetest.Near
	isNear       = pipelinetest.IsNear
	closeVectors = pipelinetest.Close
	b2i          = pipelinetest.Int
	normals      = pipelinetest.Normals
	dense        = pipelinetest.Dense
	othersOf     = pipelinetest.Others
)
