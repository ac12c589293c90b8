package pipeline

import (
	"context"
	"fmt"

	"github.com/amtrl/amtrl/backend"
)

// Network is a trained convolutional representation on a backend.
type Network struct{ net *convNet }

// FitConv runs the empirical risk minimisation of the convolutional class alone. It trains a network with k features
// for images of height by width, and a head for each task, on the samples of s, of which counts[t] belong to task t,
// task after task. Rows of more columns than pixels are images of several channels. seed determines the start.
func FitConv(ctx context.Context, b backend.Queue, s backend.Samples, counts []int, height, width, k int, c Conv,
	seed uint64) (*Network, Fit, error) {
	if err := c.validate(); err != nil {
		return nil, Fit{}, err
	}
	sum := 0
	for _, n := range counts {
		sum += n
	}
	if len(counts) != s.Tasks() || sum != s.Len() || min(height, width) < 1 || s.Cols()%height != 0 ||
		s.Cols()/height%width != 0 {
		return nil, Fit{}, fmt.Errorf("%d counts of %d samples and images of %d by %d for %d tasks, %d samples and %d columns", len(counts), sum,
			height, width, s.Tasks(), s.Len(), s.Cols())
	}
	shapes, err := c.layers(height, width, s.Cols()/height/width)
	if err != nil {
		return nil, Fit{}, err
	}
	if flat := shapes[len(shapes)-1].Out(); k < 1 || k > flat {
		return nil, Fit{}, fmt.Errorf("k is %d, expected 1 to the %d outputs of the last convolution", k, flat)
	}
	net, err := newConvNet(b, &c, shapes, k, len(counts), 0)
	if err != nil {
		return nil, Fit{}, err
	}
	var fit Fit
	if err = net.start(s, counts, stream(seed, "init")); err == nil {
		fit, err = net.fit(ctx, s, fitRun{counts: counts, labels: counts, rng: stream(seed, "fit")})
	}
	if err != nil {
		net.close()
		return nil, Fit{}, err
	}
	return &Network{net}, fit, nil
}

// Features writes the features of all samples, in order, to the N by K Float32
// matrix z.
func (n *Network) Features(s backend.Samples, z backend.Matrix) error { return n.net.features(s, z) }

// Close frees the parameters.
func (n *Network) Close() { n.net.close() }
