package pipeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/pipeline/internal/boost"
)

// The tensors of trees: TreePart (C) is the part a of the trees' prediction g in that of each output, (1 - a) f + a g, where
// f is that of the other tensors; trees.group (C) is the column of labels of each output, trees.start (C) what g begins with,
// trees.output (T) the output that each tree adds to, and TreeNodes (T by 29 by 5) the nodes of each tree, its root first:
// column, cut, low, high, value. A row whose feature of that column is at most cut goes to the node low, others to high;
// where low is 0, the tree adds value. TreeGain (C by columns) has the part of each column in what the splits of an output
// gain. g is in the units of the labels; for classes g is log-odds, computed from sums that are multinomial over the outputs
// of a column with several classes.
const (
	treeGroup  = "trees.group"
	treeStart  = "trees.start"
	treeOutput = "trees.output"
	// TreeNodes names the tensor of the nodes. In a model file the cuts are of features less representation.centre.
	TreeNodes = "trees.nodes"
	// TreeGain names the tensor of the gains, and TreePart that of the parts.
	TreeGain   = "trees.gain"
	TreePart   = "trees.part"
	nodeFields = 5
)

func forestTensors(f *boost.Forest, parts []float32) []Tensor {
	c, t := len(f.Start), len(f.Trees)
	group, output := make([]float32, c), make([]float32, t)
	for i, v := range f.Group {
		group[i] = float32(v)
	}
	nodes := make([]float32, t*boost.MaxNodes*nodeFields)
	for i, tree := range f.Trees {
		output[i] = float32(tree.Output)
		for k, n := range tree.Nodes {
			copy(nodes[(i*boost.MaxNodes+k)*nodeFields:], []float32{float32(n.Column), n.Cut, float32(n.Low), float32(n.High), n.Value})
		}
	}
	gain := make([]float32, len(f.Gain))
	for i, v := range f.Gain {
		gain[i] = float32(v)
	}
	return []Tensor{
		{treeGroup, []int{c}, group}, {treeStart, []int{c}, f.Start}, {treeOutput, []int{t}, output}, {TreePart, []int{c}, parts},
		{TreeNodes, []int{t, boost.MaxNodes, nodeFields}, nodes}, {TreeGain, []int{c, len(gain) / c}, gain},
	}
}

// forestOf returns the trees of tensors, nil where there are none, and their part in the predictions of each output. They
// must be of c outputs and at most d columns, and predict the log-odds of classes if classes says so.
func forestOf(tensors []Tensor, c, d int, classes bool) (f *boost.Forest, parts []float32, err error) {
	named := map[string]Tensor{}
	for _, t := range tensors {
		named[t.Name] = t
	}
	parts = named[TreePart].Data
	if _, there := named[TreeNodes]; !there {
		if parts != nil {
			return nil, nil, fmt.Errorf("expected %s beside %s, found none", TreeNodes, TreePart)
		}
		return nil, nil, nil
	}
	if len(parts) != c || slices.ContainsFunc(parts, func(v float32) bool { return !(v >= 0 && v <= 1) }) {
		return nil, nil, fmt.Errorf("%s: expected %d numbers from 0 to 1, found %v", TreePart, c, parts)
	}
	f, err = readForest(named, c, d, classes)
	return f, parts, err
}

func readForest(named map[string]Tensor, c, d int, classes bool) (*boost.Forest, error) {
	nodes := named[TreeNodes]
	f := &boost.Forest{Classes: classes, Start: named[treeStart].Data}
	trees, most := len(named[treeOutput].Data), 0
	if len(nodes.Shape) == 3 { // trees of earlier versions have more nodes
		most = nodes.Shape[1]
	}
	if len(f.Start) != c || len(named[treeGroup].Data) != c || most < 1 || len(nodes.Data) != trees*most*nodeFields {
		return nil, fmt.Errorf("trees: expected %d outputs and as many trees as %s has, found shapes %v, %v and %v", c, treeOutput,
			named[treeStart].Shape, named[treeGroup].Shape, nodes.Shape)
	}
	for i, v := range named[treeGroup].Data {
		if !finite32(f.Start[i]) || !finite32(v) {
			return nil, fmt.Errorf("%s and %s: expected finite numbers, found %g and %g", treeGroup, treeStart, v, f.Start[i])
		}
		f.Group = append(f.Group, int(v))
	}
	for i, of := range named[treeOutput].Data {
		t := boost.Tree{Output: int(of)}
		if !(of >= 0 && of < float32(c)) {
			return nil, fmt.Errorf("%s: tree %d: expected an output from 0 to %d, found %g", treeOutput, i, c-1, of)
		}
		for k := range most {
			v := nodes.Data[(i*most+k)*nodeFields:][:nodeFields]
			n := boost.Node{Column: int(v[0]), Cut: v[1], Low: int(v[2]), High: int(v[3]), Value: v[4]}
			after := func(v float32) bool { return v >= float32(k+1) && v < float32(most) }
			if !(v[0] >= 0 && v[0] < float32(d)) || !finite32(n.Cut) || !finite32(n.Value) || v[2] != 0 && (!after(v[2]) || !after(v[3])) {
				return nil, fmt.Errorf("%s: tree %d, node %d: expected one of %d columns, finite numbers and later nodes, found %v", TreeNodes, i,
					k, d, v)
			}
			t.Nodes = append(t.Nodes, n)
		}
		f.Trees = append(f.Trees, t)
	}
	return f, nil
}

func finite32(v float32) bool { return !math.IsInf(float64(v), 0) && v == v }

// ScaleCuts returns TreeNodes with the cuts of each feature multiplied by its scale.
func ScaleCuts(nodes Tensor, scales []float64) Tensor {
	return mapCuts(nodes, func(column int, cut float32) float32 { return float32(float64(cut) * scales[column]) })
}

// mapCuts returns TreeNodes with other cuts.
func mapCuts(nodes Tensor, of func(column int, cut float32) float32) Tensor {
	nodes.Data = slices.Clone(nodes.Data)
	for k := 0; k < len(nodes.Data); k += nodeFields {
		if n := nodes.Data[k:][:nodeFields]; n[2] > 0 {
			n[1] = of(int(n[0]), n[1])
		}
	}
	return nodes
}
