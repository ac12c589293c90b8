package vec

// Transpose copies the transpose of a rows by cols matrix, whose rows begin stride elements apart, to dst, whose rows
// begin dstStride apart. dst does not overlap src.
func Transpose[E float32 | float64](dst []E, dstStride int, src []E, stride, rows, cols int) {
	const together = 4
	i := 0
	for ; i+together <= rows; i += together {
		s0, s1, s2, s3 := src[i*stride:][:cols], src[(i+1)*stride:][:cols], src[(i+2)*stride:][:cols], src[(i+3)*stride:][:cols]
		for j, v := range s0 {
			to := dst[j*dstStride+i:][:together]
			to[0], to[1], to[2], to[3] = v, s1[j], s2[j], s3[j]
		}
	}
	for ; i < rows; i++ {
		for j, v := range src[i*stride:][:cols] {
			dst[j*dstStride+i] = v
		}
	}
}
