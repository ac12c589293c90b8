package backend

// Training are the operations of minibatch training. The batch's features and
// labels are Float32, numbers of tasks Int32.
type Training interface {
	// Batch lays out a minibatch: with n = len(order), row i of x (n by d) are the
	// features of sample order[i] of s, row i of y (n by C) its labels, and task_i
	// the first task of its source. The labels of missing outputs are NaN, and so are
	// those beyond the outputs of the sample's source. Samples are numbered as in the
	// [SampleSet]; repeats are allowed. An entry outside of 0 to N-1 is an
	// [*ArgumentError] that names it. A program reads order when it is run.
	Batch(s Samples, order []int32, x, y Matrix, task Vector) error
	// HeadGradient is the squared loss of a minibatch under the heads of its
	// tasks, with its gradients. z is n by K, w is T by K with the head of task t
	// in row t, y n by at least one label. With r_ic = z_i'w_t - y_ic, t = task_i + c,
	// and the sums over the labels y_ic that are not NaN:
	//
	//	loss += sum_i,c r_ic^2,  dz_i = scale sum_c r_ic w_t,  dw_t = scale sum_{i, c: task_i + c = t} r_ic z_i
	//
	// loss is one Float64 element that the call adds to, so that it need be read
	// once in many batches. dz and dw are overwritten, dw with zeros for tasks
	// that the batch has no label of; both may be the zero Matrix when the loss
	// alone is wanted. A sample whose task_i is not in 0 to T-1 adds nothing and
	// has dz_i = 0; neither does a label whose t is not.
	HeadGradient(z, y Matrix, task Vector, w Matrix, scale float64, dz, dw Matrix, loss Vector) error
	// Adam is one step of Adam with decoupled weight decay (Kingma and Ba 2015;
	// Loshchilov and Hutter 2019), element by element in Float32:
	//
	//	m = beta1 m + (1 - beta1) g
	//	v = beta2 v + (1 - beta2) g^2
	//	theta -= rate (decay theta + m / correction1 / (sqrt(v / correction2) + epsilon))
	//
	// with all rates rounded to Float32 once, 1 - beta and rate / correction1
	// before. g is kept. A program reads rates when it is run.
	Adam(rates *AdamRates, g, m, v, theta Vector) error
}

// AdamRates are the numbers of one Adam step. In step t = 1, 2, ... from m = v
// = 0 the corrections for the start are 1 - beta1^t and 1 - beta2^t (1 minus the
// product of the steps' beta1 where it changes).
type AdamRates struct {
	Rate, Beta1, Beta2, Epsilon, Decay float64
	Correction1, Correction2           float64
}
