package backend

// Scope owns temporaries: everything allocated through it is freed by Close.
// After a failed allocation all later ones fail with the same error, so a group
// of them needs one check of Err.
//
//	tmp := backend.NewScope(q)
//	defer tmp.Close()
//	z, g := tmp.Matrix(backend.Float32, n, k), tmp.Vector(backend.Float64, k*k)
//	if err := tmp.Err(); err != nil { ... }
type Scope struct {
	q    Queue
	bufs []interface{ Free() }
	err  error
}

// NewScope returns an empty scope on q.
func NewScope(q Queue) *Scope { return &Scope{q: q} }

// Alloc returns a zeroed buffer, or nil after a failure.
func (s *Scope) Alloc(t DType, n int) Buffer {
	return own(s, func() (Buffer, error) { return s.q.Alloc(t, n) })
}

// own calls make, unless an earlier call failed, and keeps the result for Close or the failure for Err.
func own[T interface{ Free() }](s *Scope, make func() (T, error)) (none T) {
	if s.err != nil {
		return none
	}
	made, err := make()
	if err != nil {
		s.err = err
		return none
	}
	s.bufs = append(s.bufs, made)
	return made
}

// Vector returns a zeroed vector.
func (s *Scope) Vector(t DType, n int) Vector {
	return Vector{Buf: s.Alloc(t, n), Len: n}
}

// Matrix returns a zeroed matrix.
func (s *Scope) Matrix(t DType, rows, cols int) Matrix {
	return Mat(s.Alloc(t, rows*cols), rows, cols)
}

// Samples places a sample set on the device, or returns nil after a failure.
func (s *Scope) Samples(set SampleSet) Samples {
	return own(s, func() (Samples, error) { return s.q.NewSamples(set) })
}

// Upload returns a buffer with the elements of src, or nil after a failure.
func Upload[E Element](s *Scope, t DType, src []E) Buffer {
	buf := s.Alloc(t, len(src))
	if s.err == nil {
		s.err = Put(s.q, buf, 0, src)
	}
	return buf
}

// Err returns the first failure of an allocation or upload.
func (s *Scope) Err() error { return s.err }

// Close frees everything allocated through the scope. It is idempotent.
func (s *Scope) Close() {
	for i := len(s.bufs) - 1; i >= 0; i-- {
		s.bufs[i].Free()
	}
	s.bufs = nil
}
