package vec

// gemmGeneric computes the rows of C as sums of rows of op(B), four rows per pass over C; where B is transposed, op(B)
// is written out first.
func gemmGeneric(g gemm) {
	b, bStride := g.b, g.bStride
	if g.transB {
		buf := getScratch(g.k * g.n)
		defer putScratch(buf)
		b, bStride = *buf, g.n
		for j := range g.n {
			for p, v := range g.b[j*g.bStride:][:g.k] {
				b[p*bStride+j] = v
			}
		}
	}
	rs, cs := g.aStride, 1
	if g.transA {
		rs, cs = 1, g.aStride
	}
	for i := range g.m {
		a, c := g.a[i*rs:], g.c[i*g.cStride:][:g.n]
		scaleRow(g.beta, c)
		p := 0
		for ; p <= g.k-4; p += 4 {
			coef := [4]float32{g.alpha * a[p*cs], g.alpha * a[(p+1)*cs], g.alpha * a[(p+2)*cs], g.alpha * a[(p+3)*cs]}
			axpy4(&coef, b[p*bStride:], b[(p+1)*bStride:], b[(p+2)*bStride:], b[(p+3)*bStride:], c)
		}
		for ; p < g.k; p++ {
			axpyGeneric(g.alpha*a[p*cs], b[p*bStride:][:g.n], c)
		}
	}
}

// axpy4 computes y += coef_0 x0 + ... + coef_3 x3.
func axpy4(coef *[4]float32, x0, x1, x2, x3, y []float32) {
	c0, c1, c2, c3 := coef[0], coef[1], coef[2], coef[3]
	x0, x1, x2, x3 = x0[:len(y)], x1[:len(y)], x2[:len(y)], x3[:len(y)]
	for i := range y {
		y[i] += c0*x0[i] + c1*x1[i] + c2*x2[i] + c3*x3[i]
	}
}
