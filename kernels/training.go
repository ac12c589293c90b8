package kernels

// Heads computes the squared loss of a minibatch of N samples of up to Outputs labels under the heads of their tasks,
// and its gradients, as backend.Training defines them. All operands are in device memory.
type Heads struct {
	N, K, Tasks, Outputs int
	Z, W, Y              Matrix
	Task                 Ptr
	Scale                float64
	// DZ and DW are both the zero Matrix when the loss alone is wanted.
	DZ, DW Matrix
	// Loss points to one float64, which is added to.
	Loss Ptr
	// Residual is scratch of N Outputs float64.
	Residual Ptr
}

// Launches returns two launches: the residuals with the gradient with respect to the features, and then the loss with
// the gradient with respect to the heads.
func (h Heads) Launches() []Launch {
	k, outputs, blocks := index32("head_residual", "columns", h.K), index32("head_residual", "outputs", h.Outputs), 1
	if h.DW.At != 0 {
		blocks += h.Tasks
	}
	return []Launch{
		launch("head_residual", ceilDiv(h.N, warpsPer), 1, threads(block), 0, int64(h.N), k, index32("head_residual", "tasks", h.Tasks), outputs,
			h.Z, h.Y, h.Task, h.W, h.Scale, h.DZ, h.Residual),
		launch("head_gradient", blocks, 1, threads(size("HEAD_BLOCK")), 0, int64(h.N), k, outputs,
			h.Z, h.Task, h.Residual, h.Scale, h.DW, h.Loss),
	}
}

// AdamRates is the number of float32 that Adam reads from device memory: beta1,
// 1 - beta1, beta2, 1 - beta2, 1 / correction2, epsilon, rate / correction1 and
// rate * decay.
const AdamRates = 8

// Adam makes one step over n elements, as backend.Training defines it.
func Adam(n int, rates, g, m, v, theta Ptr) Launch {
	return launch("adam", ceilDiv(n, block), 1, threads(block), 0, int64(n), rates, g, m, v, theta)
}
