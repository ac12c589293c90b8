package backend

// Training holds the operations of minibatch training. Features and labels of a batch are Float32, task numbers Int32.
type Training interface {
	// Batch lays out a minibatch: with n = len(order), it writes to row i of x (n by d) the features of sample order[i]
	// of s, to row i of y (n by C) its labels, and to element i of task the first task of its source. Missing labels
	// are NaN, and so are elements of y beyond the outputs of the sample's source. Samples are numbered as in the
	// [SampleSet]; repeats are allowed. An entry outside of 0 to N-1 is an [*ArgumentError] that names it. A program
	// reads order when it is run.
	Batch(s Samples, order []int32, x, y Matrix, task Vector) error
	// HeadGradient computes the squared loss of a minibatch under the heads of its
	// tasks, and scaled gradients of it. z is n by K, w is T by K with the head of
	// task t in row t, and y has n rows of at least one label. With r_ic = z_i'w_t -
	// y_ic, t = task_i + c, and the sums over the labels y_ic that are not NaN:
	//
	//	loss += sum_i,c r_ic^2,  dz_i = scale sum_c r_ic w_t,  dw_t = scale sum_{i, c: task_i + c = t} r_ic z_i
	//
	// loss is one Float64 element that the call adds to, so that the host need read
	// it only once in many batches. dz and dw are overwritten, dw with zeros for
	// tasks without a label in the batch; both may be the zero Matrix when the loss
	// alone is wanted. A sample whose task_i is not in 0 to T-1 adds nothing and has
	// dz_i = 0; a label whose t is not in that range adds nothing either.
	HeadGradient(z, y Matrix, task Vector, w Matrix, scale float64, dz, dw Matrix, loss Vector) error
	// Adam makes one step of Adam with decoupled weight decay (Kingma and Ba 2015;
	// Loshchilov and Hutter 2019), element by element in Float32:
	//
	//	m = beta1 m + (1 - beta1) g
	//	v = beta2 v + (1 - beta2) g^2
	//	theta -= rate (decay theta + m / correction1 / (sqrt(v / correction2) + epsilon))
	//
	// The scalars, with 1 - beta, rate / correction1, 1 / correction2 and rate decay
	// computed in float64, are each rounded to Float32 once. g is not changed. A
	// program reads rates when it is run.
	Adam(rates *AdamRates, g, m, v, theta Vector) error
}

// AdamRates holds the scalars of one Adam step. Correction1 and Correction2 make up for the start at m = v = 0: in step
// t = 1, 2, ... they are 1 - beta1^t and 1 - beta2^t (where beta1 changes, 1 minus the product of beta1 over the
// steps).
type AdamRates struct {
	Rate, Beta1, Beta2, Epsilon, Decay float64
	Correction1, Correction2           float64
}
