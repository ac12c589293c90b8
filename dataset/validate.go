package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/x448/float16"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/finite"
	"github.com/amtrl/amtrl/internal/text"
)

// Validate checks everything that the other parts of amtrl rely on, in time linear in the size of the set, and returns the first fault as
// an error: a pool whose storage does not match its shape, pools of different widths, a scale that is not finite and positive, a cost
// that is neither 0 nor from MinCost to MaxCost, a stored element that is not finite or beyond 1e18 in magnitude, a label that is not
// finite, or other than 0 and 1 where Binary is set, a name with control characters, a task name that is empty or taken, a pool with two
// tasks of one output, a class where Binary is not set, a row that is outside its pool or listed twice in Train and Test together, a task
// without train rows, or a model or columns that do not fit the tasks.
func (s *Set) Validate() error {
	if err := s.CheckShape(); err != nil {
		return err
	}
	faults := make([]error, len(s.Pools))
	var wg sync.WaitGroup
	for i, p := range s.Pools {
		wg.Go(func() { faults[i] = p.validateElements() })
	}
	wg.Wait()
	for i, p := range s.Pools {
		if !text.Printable(p.Name) {
			return s.fault("pool %d: expected a name without control characters, found %q", i, p.Name)
		}
		if faults[i] != nil {
			return s.fault("pool %q: %w", p.Name, faults[i])
		}
	}
	seen := make(map[string]int, len(s.Tasks))
	outputs := map[ofOutput]string{}
	var marks rowMarks
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if j, taken := seen[t.Name]; taken || t.Name == "" {
			return s.fault("task %d: expected a name of its own, found %q, also of task %d", i, t.Name, j)
		}
		seen[t.Name] = i
		if !text.Printable(t.Name) {
			return s.fault("task %d: expected a name without control characters, found %q", i, t.Name)
		}
		if err := s.validateTask(t, &marks); err != nil {
			return s.fault("task %q: %w", t.Name, err)
		}
		if t.Output == (Output{}) {
			continue
		}
		of := ofOutput{t.Pool, t.Output}
		if other, taken := outputs[of]; taken {
			return s.fault("task %q: expected an output of its own in pool %q, found that of task %q, column %q and class %q", t.Name,
				s.Pools[t.Pool].Name, other, t.Output.Name, t.Output.Class)
		}
		outputs[of] = t.Name
	}
	if s.Columns != nil {
		if err := s.validateColumns(); err != nil {
			return s.fault("columns: %w", err)
		}
	}
	if s.Model != nil {
		if err := s.Model.validate(s.Pools[0].Cols, len(s.Tasks)); err != nil {
			return s.fault("model: %w", err)
		}
	}
	return nil
}

// CheckShape makes the checks of [Set.Validate] that do not look at elements, labels and rows, in a time that does not depend on how many
// there are: whether there are pools and tasks, of what length their slices are, and to which pools tasks belong.
func (s *Set) CheckShape() error {
	if s == nil {
		return errors.New("expected a set, found none")
	}
	if len(s.Pools) == 0 || len(s.Tasks) == 0 {
		return s.fault("expected at least one pool and one task, found %d and %d", len(s.Pools), len(s.Tasks))
	}
	for i, p := range s.Pools {
		if p == nil {
			return s.fault("pool %d is nil", i)
		}
		if err := p.checkShape(); err != nil {
			return s.fault("pool %q: %w", p.Name, err)
		}
		if p.Cols != s.Pools[0].Cols {
			return s.fault("pool %q: expected %d columns as in pool %q, found %d", p.Name, s.Pools[0].Cols, s.Pools[0].Name, p.Cols)
		}
	}
	for _, t := range s.Tasks {
		if t.Pool < 0 || t.Pool >= len(s.Pools) {
			return s.fault("task %q: expected one of %d pools, found index %d", t.Name, len(s.Pools), t.Pool)
		}
		if p := s.Pools[t.Pool]; t.Labels != nil && len(t.Labels) != p.Rows {
			return s.fault("task %q: expected %d labels, one for each row of pool %q, found %d", t.Name, p.Rows, p.Name,
				len(t.Labels))
		}
	}
	if s.Model != nil {
		if err := s.Model.checkShape(s.Pools[0].Cols, len(s.Tasks)); err != nil {
			return s.fault("model: %w", err)
		}
	}
	return nil
}

// fault returns an error that begins with the name of the set, if it has one.
func (s *Set) fault(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if s.Name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", s.Name, err)
}

// ofOutput is an output of a pool.
type ofOutput struct {
	pool int
	Output
}

// validateColumns checks the units, the means, the knots and the factors of features, and that the classes of each column include those of
// the tasks.
func (s *Set) validateColumns() error {
	cols := s.Pools[0].Cols
	for _, v := range []struct {
		name   string
		values []float64
	}{{"Centre", s.Columns.Centre}, {"Spread", s.Columns.Spread}, {"Means", s.Columns.Means}} {
		if n := len(v.values); n != 0 && n != cols {
			return fmt.Errorf("%s: expected %d numbers, one for each feature, or none, found %d", v.name, cols, n)
		}
		if i := slices.IndexFunc(v.values, func(x float64) bool { return x-x != 0 }); i >= 0 {
			return fmt.Errorf("feature %d of %s: expected a finite number, found %v", i, v.name, v.values[i])
		}
	}
	if len(s.Columns.Centre) != len(s.Columns.Spread) {
		return fmt.Errorf("expected both of Centre and Spread or none, found %d and %d numbers", len(s.Columns.Centre), len(s.Columns.Spread))
	}
	if i := slices.IndexFunc(s.Columns.Spread, func(x float64) bool { return !(x > 0) }); i >= 0 {
		return fmt.Errorf("feature %d of Spread: expected a number above 0, found %v", i, s.Columns.Spread[i])
	}
	if n := len(s.Columns.Features); n > cols || n < cols && s.Columns.Derived.Count() > 0 {
		return fmt.Errorf("names of features: expected %d, found %d", cols, n)
	}
	c := s.Columns
	for _, cut := range c.Cuts {
		if cut.Feature < 0 || cut.Feature >= cols || !(cut.Low < cut.High) {
			return fmt.Errorf("cuts: expected a feature from 0 to %d, and a lower and a higher number, found %v", cols-1, cut)
		}
	}
	for _, name := range c.Logs {
		if _, _, is := table.LogOf(name); !is || !slices.Contains(c.Features, name) {
			return fmt.Errorf("logs: expected a feature such as \"log x\", found %q", name)
		}
	}
	if err := c.Derived.Check(c.Features, max(0, c.read()-table.CountWords(c.Words))); err != nil {
		return err
	}
	classes := map[Output]bool{} // the classes of columns that list them, and for each of these columns an empty class
	for _, l := range s.Columns.Labels {
		for _, class := range l.Classes {
			classes[Output{l.Name, class}], classes[Output{l.Name, ""}] = true, true
		}
	}
	for _, t := range s.Tasks {
		if o := t.Output; classes[Output{o.Name, ""}] && !classes[o] {
			return fmt.Errorf("label %q: expected its classes to list %q, that of task %q", o.Name, o.Class, t.Name)
		}
	}
	return nil
}

func (p *Pool) checkShape() error {
	if p.Rows < 1 || p.Rows > math.MaxInt32 || p.Cols < 1 || p.Cols > math.MaxInt/p.Rows {
		return fmt.Errorf("expected 1 to %d rows of at least one column, found %d by %d", math.MaxInt32, p.Rows, p.Cols)
	}
	lengths := slices.DeleteFunc([]int{len(p.U8), len(p.F16), len(p.F32)}, func(n int) bool { return n == 0 })
	if len(lengths) != 1 {
		return fmt.Errorf("expected one of U8, F16 and F32 to be set, found %d", len(lengths))
	}
	if length := lengths[0]; length != p.Rows*p.Cols {
		return fmt.Errorf("expected %d by %d = %d elements, found %d", p.Rows, p.Cols, p.Rows*p.Cols, length)
	}
	if !(p.Scale > 0) || math.IsInf(float64(p.Scale), 0) {
		return fmt.Errorf("expected a scale that is finite and above 0, found %v", p.Scale)
	}
	if p.Cost != 0 && !(p.Cost >= MinCost && p.Cost <= MaxCost) {
		return fmt.Errorf("expected a cost from %g to %g, or 0 for 1, found %v", MinCost, MaxCost, p.Cost)
	}
	if n := len(p.Groups); n != 0 && n != p.Rows {
		return fmt.Errorf("expected %d numbers of groups, one for each row, or none, found %d", p.Rows, n)
	}
	if h, w := p.Height, p.Width; (h != 0 || w != 0) && !table.IsImage(p.Cols, h, w) {
		return fmt.Errorf("expected an image shape that divides %d elements or 0 by 0, found %d by %d", p.Cols, h, w)
	}
	return nil
}

func (p *Pool) validateElements() error {
	i := max(finite.Beyond(p.F32, maxFeature), finite.First16(p.F16)) // one of the two is empty
	if i < 0 {
		return nil
	}
	return p.elementFault(i)
}

// elementFault returns the error for stored element i.
func (p *Pool) elementFault(i int) error {
	expected := "a finite value"
	if v := p.value(i); v-v == 0 {
		expected = boundedFeature
	}
	return fmt.Errorf("row %d, column %d: expected %s, found %v", i/p.Cols, i%p.Cols, expected, p.value(i))
}

// CheckFeatures returns an error for a feature that is infinite or beyond 1e18 in magnitude, as [Set.Validate] does. NaN passes.
func (p *Pool) CheckFeatures() error {
	for from := 0; ; {
		i := max(finite.Beyond(p.F32[min(from, len(p.F32)):], maxFeature), finite.First16(p.F16[min(from, len(p.F16)):]))
		if i < 0 {
			return nil
		}
		if from += i; p.value(from) == p.value(from) {
			return p.elementFault(from)
		}
		from++
	}
}

// The bounds of the cost of a row. Within them costs can be squared, summed over all sources and divided by without an
// overflow.
const (
	MinCost = 1e-18
	MaxCost = 1e18
)

// maxFeature is the largest feature in magnitude: the square of ten times as much is near the largest float32.
const (
	maxFeature     = table.MaxFeature
	boundedFeature = "a value of at most 1e+18 in magnitude"
)

// value returns stored element i of a floating-point pool, without Scale.
func (p *Pool) value(i int) float32 {
	if len(p.F32) > 0 {
		return p.F32[i]
	}
	return float16.Frombits(p.F16[i]).Float32()
}

func (s *Set) validateTask(t *Task, marks *rowMarks) error {
	rows := s.Pools[t.Pool].Rows
	if t.Output.Class != "" && !s.Binary {
		return fmt.Errorf("expected Binary of a set with classes, such as %q", t.Output.Class)
	}
	if i := finite.First32(t.Labels); i >= 0 {
		return fmt.Errorf("row %d: expected a finite label, found %v", i, t.Labels[i])
	}
	if i := slices.IndexFunc(t.Labels, func(y float32) bool { return y != 0 && y != 1 }); i >= 0 && s.Binary {
		return fmt.Errorf("row %d: expected a label of 0 or 1, found %v", i, t.Labels[i])
	}
	if len(t.Train) == 0 {
		return fmt.Errorf("expected train rows, found none")
	}
	marks.reset(rows)
	if err := marks.add("train", t.Train); err != nil {
		return err
	}
	return marks.add("test", t.Test)
}

// rowMarks remembers which rows a task has listed. A row is marked where its entry is the current generation, so that a reset costs
// nothing.
type rowMarks struct {
	mark       []uint32
	rows       int
	generation uint32
}

func (m *rowMarks) reset(rows int) {
	if rows > len(m.mark) {
		m.mark = make([]uint32, rows)
		m.generation = 0
	}
	m.rows = rows
	m.generation++
}

func (m *rowMarks) add(list string, rows []int32) error {
	for i, r := range rows {
		if r < 0 || int(r) >= m.rows {
			return fmt.Errorf("%s row %d of %d: expected 0 to %d, found %d", list, i, len(rows), m.rows-1, r)
		}
		if m.mark[r] == m.generation {
			return fmt.Errorf("%s row %d of %d: expected each row once in train and test together, found %d again", list, i, len(rows), r)
		}
		m.mark[r] = m.generation
	}
	return nil
}

func (m *LinearModel) checkShape(cols, tasks int) error {
	if m.D != cols || m.Tasks != tasks || m.K < 1 {
		return fmt.Errorf("expected D = %d, Tasks = %d and K >= 1, found %d, %d and %d", cols, tasks, m.D, m.Tasks, m.K)
	}
	if len(m.B)/m.K != m.D || len(m.B)%m.K != 0 || len(m.W)/m.K != m.Tasks || len(m.W)%m.K != 0 {
		return fmt.Errorf("expected B of %d by %d and W of %d by %d, found %d and %d elements", m.D, m.K, m.K, m.Tasks, len(m.B), len(m.W))
	}
	return nil
}

func (m *LinearModel) validate(cols, tasks int) error {
	if err := m.checkShape(cols, tasks); err != nil {
		return err
	}
	if !(m.Sigma >= 0) || math.IsInf(m.Sigma, 0) {
		return fmt.Errorf("expected a sigma that is finite and not negative, found %v", m.Sigma)
	}
	for _, part := range []struct {
		name   string
		values []float64
	}{{"B", m.B}, {"W", m.W}} {
		for i, v := range part.values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s, element %d: expected a finite value, found %v", part.name, i, v)
			}
		}
	}
	return nil
}
