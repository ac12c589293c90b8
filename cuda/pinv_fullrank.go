//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"unsafe"

	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/kernels"
)

const (
	// nearlyOrthonormal is how far Q Q' may be from I: to the eighth power it is below rounding. orthonormalBound is
	// 1.01, above (1 + nearlyOrthonormal)^(1/2).
	nearlyOrthonormal, orthonormalBound = 0.01, 1.01
)

// fullRank computes W, p by p, and Q, p by rows, with (T^+)' = W Q for T = u.t, p by rows, of full rank p. It overwrites
// T by Q. It reports false where the rank is not certain, or T's condition is above some 10^7.
//
//	T T' = L L',  L Q = T,  H = (Q Q')^-1,  L' W = H
//
// The function of this name in package cpu computes the same and says why that is as accurate as a decomposition. Here
// all is issued, with two steps to H, before the device is asked for anything: to wait costs as much as
// what may be spared.
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
	newton := func(factor matrix) { // which is I
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

// identity writes the identity.
func (w *scratch) identity(x matrix) {
	ones := kernels.Ptr(w.floats(x.rows))
	w.set(x.at, 0, x.rows*x.cols)
	w.launch(kernels.Fill(kernels.Float64, x.rows, 1, ones),
		kernels.CopyMatrix(kernels.Float64, x.rows, 1, kernels.Matrix{At: ones, Stride: 1},
			kernels.Matrix{At: kernels.Ptr(x.at), Stride: x.stride + 1}))
}
