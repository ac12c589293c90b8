package runs

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
)

// imageSize is the height and the width of the images that a network takes, 0 for other models.
type imageSize [2]int

func (s imageSize) String() string { return fmt.Sprintf("%d,%d", s[0], s[1]) }

// parseImageSize is the inverse of String. It returns 0 for an empty text.
func parseImageSize(text string) (s imageSize, err error) {
	if text == "" {
		return s, nil
	}
	if _, err := fmt.Sscanf(text, "%d,%d", &s[0], &s[1]); err != nil {
		return s, fmt.Errorf("metadata image: expected a height and a width, found %q", text)
	}
	return s, nil
}

// check returns an error where the vectors that q reads from a file have another shape than the network's images, such as
// channels that come first. Vectors without a shape and of another width are not judged.
func (s imageSize) check(path string, columns []table.Column, q table.Query) error {
	i := slices.IndexFunc(columns, func(c table.Column) bool { return len(q.Features) == 1 && c.Name == q.Features[0] })
	if s[0] == 0 || i < 0 || len(columns[i].Shape) < 2 || columns[i].Width != q.Width {
		return nil
	}
	c := columns[i]
	if h, w := table.ImageOf(c.Shape); h == s[0] && w == s[1] {
		return nil
	}
	want := s[:]
	if channels := q.Width / s[0] / s[1]; channels > 1 {
		want = append(want, channels)
	}
	return fmt.Errorf("%s: expected images of %s, as those of the run, found arrays of %s", path, table.Sides(want), table.Sides(c.Shape))
}
