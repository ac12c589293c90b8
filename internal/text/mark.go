package text

// Mark returns an error that reads as err does, and is both err and kind for [errors.Is] and [errors.As].
func Mark(err, kind error) error { return &marked{err, kind} }

type marked struct{ err, kind error }

func (m *marked) Error() string { return m.err.Error() }

func (m *marked) Unwrap() []error { return []error{m.err, m.kind} }
