package pipeline

import (
	"slices"

	"github.com/amtrl/amtrl/backend"
)

// unitsAt views the units, which are stored behind the origins.
func (n *convNet) unitsAt() backend.Vector {
	return section(n.all, n.theta.Len+n.t, n.inputs()+1+n.columns)
}

// setUnits stores the origins and the units behind the parameters. The intercepts start at the origins.
func (n *convNet) setUnits(u units, origins []float32) error {
	return backend.Put(n.b, n.all.Buf, n.all.Off+n.theta.Len, slices.Concat(origins, u.values()))
}

func (n *convNet) units() (units, error) {
	if !n.intercept() {
		return units{scale: 1}, nil
	}
	return unitsAt(n.b, n.unitsAt(), n.inputs(), 1, false)
}

func (n *convNet) origins() ([]float32, error) {
	if !n.intercept() {
		return nil, nil
	}
	v := make([]float32, n.t)
	return v, backend.Get(n.b, v, n.all.Buf, n.all.Off+n.theta.Len)
}

func (n *convNet) sourceIntercepts() ([]float32, error) {
	out, err := n.origins()
	if err != nil || out == nil {
		return nil, err
	}
	heads := n.headsOf(n.theta)
	host := make([]float32, heads.Rows*heads.Stride)
	if err := backend.Get(n.b, host, heads.Buf, heads.Off); err != nil {
		return nil, err
	}
	for t := range out {
		out[t] += host[t*heads.Stride+n.k]
	}
	return out, nil
}
