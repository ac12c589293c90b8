//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"unsafe"

	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/kernels"
)

const (
	// nearlyOrthonormal is the largest ||I - Q Q'||_F that is accepted: its eighth power, the error that two
	// Newton steps leave, is below rounding. orthonormalBound is above (1 + nearlyOrthonormal)^(1/2), a bound
	// of ||Q||_2.
	nearlyOrthonormal, orthonormalBound = 0.01, 1.01
)

// fullRank returns W, p by p, and Q, p by rows, with (T^+)' = W Q for T = u.t, p by rows, of full rank p. Q
// overwrites T. It returns false where the rank is not certain, or the condition number of T is above about
// 10^7.
//
//	T T' = L L',  L Q = T,  H = (Q Q')^-1,  L' W = H
//
// The function of this name in package cpu computes the same and says why this is as accurate as a
// decomposition. Here all work is issued, with two Newton steps to H, before anything is read from the
// device: an earlier wait would cost as much as the work that it might save.
func (w *scratch) fullRank(u upright, rcond float64) (wm, q matrix, ok bool) {
	t, p := u.t, u.t.rows
	l, gram, one := w.matrix(p, p), w.matrix(p, p), w.matrix(p, p)
	e, h, next := w.matrix(p, p), w.matrix(p, p), w.matrix(p, p)
	norms := kernels.Norm{N: p * p}
	var got struct {
		off, w float64
		info   [2]int32
	}
	room := w.floats(3 + norms.PartLen())
	norms.Part = kernels.Ptr(room).At(3, 8)
	norm := func(of matrix, i int) {
		norms.X, norms.Out = kernels.Ptr(of.at), kernels.Ptr(room).At(i, 8)
		w.launch(norms.Launches()...)
	}

	w.gemm(false, true, 1, t, t, 0, l)
	w.factor(l, room+nv.DevicePtr(unsafe.Offsetof(got.info)))
	w.trsm(false, l, t)

	w.gemm(false, true, 1, t, t, 0, gram)
	w.identity(one)
	w.add(1, one, -1, gram, e)
	norm(e, 0)
	w.add(2, one, -1, gram, h)
	newton := func(factor matrix) { // h = h (2 I - Q Q' h); factor is I before and is overwritten
		w.gemm(false, false, -1, gram, h, 2, factor)
		w.gemm(false, false, 1, h, factor, 0, next)
		h, next = next, h
	}
	w.copyMatrix(false, one, e)
	newton(e)
	newton(one)

	w.trsm(true, l, h)
	norm(h, 1)
	w.read(bytesOf(unsafe.Slice(&got, 1)), room)
	if got.info[0] < 0 {
		w.status("cusolverDnDpotrf", got.info[0])
	}
	margin := 16 * float64(t.cols) * 0x1p-53
	ok = w.err == nil && got.info[0] == 0 && got.off <= nearlyOrthonormal && (rcond+margin)*orthonormalBound*u.norm*got.w < 1
	return h, t, ok
}

// identity writes the identity matrix to x.
func (w *scratch) identity(x matrix) {
	ones := kernels.Ptr(w.floats(x.rows))
	w.set(x.at, 0, x.rows*x.cols)
	w.launch(kernels.Fill(kernels.Float64, x.rows, 1, ones),
		kernels.CopyMatrix(kernels.Float64, x.rows, 1, kernels.Matrix{At: ones, Stride: 1},
			kernels.Matrix{At: kernels.Ptr(x.at), Stride: x.stride + 1}))
}
