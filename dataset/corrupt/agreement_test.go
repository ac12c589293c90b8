package corrupt

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

// agreement compares our corruption of the base images with the published one.
type agreement struct {
	name string
	// same is the share of pixels within 2 grey levels.
	same float64
	// meanImage is the RMS difference of the mean images, as a share of 255.
	meanImage float64
	// mean, sd and texture are ratios, ours over theirs: of the mean and the standard deviation of all pixels, and of the mean absolute
	// difference of neighbours in a row.
	mean, sd, texture float64
	// trainedTheirs and trainedOurs are the accuracies, on their last rows, of classifiers trained on their and on our first rows.
	trainedTheirs, trainedOurs float64
}

const (
	trainRows      = 4000
	withinLevels   = 2
	minSame        = 0.995
	maxMeanImage   = 0.03
	maxRatioError  = 0.05
	maxAccuracyGap = 0.02
)

// TestAgreement compares the generator with the published generator's output on the same base images, and prints the table of
// docs/corruptions.md.
func TestAgreement(t *testing.T) {
	data := realData(t)
	rows := make([]agreement, len(corruptions))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for i, c := range corruptions {
		theirs := data.reference(t, c.name)
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ours, err := Generate(c.name, data.images, 1, 1)
			if err != nil {
				t.Error(err)
				return
			}
			rows[i] = compare(ours, theirs)
			rows[i].name = c.name
			if c.random && !testing.Short() {
				rows[i].trainedTheirs = digitAccuracy(theirs, theirs, data.labels)
				rows[i].trainedOurs = digitAccuracy(ours, theirs, data.labels)
			}
		})
	}
	wg.Wait()
	t.Log("\n" + agreementTable(rows))
	for i, r := range rows {
		if !corruptions[i].random {
			if r.same < minSame {
				t.Errorf("%s: %.4f of the pixels are within %d grey levels: expected %.3f", r.name, r.same, withinLevels, minSame)
			}
			continue
		}
		if r.meanImage > maxMeanImage {
			t.Errorf("%s: mean images differ by %.4f of full scale: expected at most %.2f", r.name, r.meanImage, maxMeanImage)
		}
		for _, q := range []struct {
			what  string
			ratio float64
		}{{"mean", r.mean}, {"standard deviation", r.sd}, {"texture", r.texture}} {
			if !(math.Abs(q.ratio-1) <= maxRatioError) {
				t.Errorf("%s: %s is %.4f of the published: expected within %.2f of 1", r.name, q.what, q.ratio, maxRatioError)
			}
		}
		if gap := r.trainedOurs - r.trainedTheirs; math.Abs(gap) > maxAccuracyGap {
			t.Errorf("%s: a classifier trained on ours is %+.3f from one trained on theirs: expected within %.2f", r.name, gap, maxAccuracyGap)
		}
	}
}

func compare(ours, theirs []uint8) agreement {
	var same int
	var pixelGap field
	var a, b moments
	for i, v := range ours {
		w := theirs[i]
		if max(v, w)-min(v, w) <= withinLevels {
			same++
		}
		pixelGap[i%pixels] += float64(v) - float64(w)
	}
	a.add(ours)
	b.add(theirs)
	n := float64(len(ours) / pixels)
	ms := 0.0
	for _, g := range pixelGap {
		ms += (g / n / 255) * (g / n / 255) / pixels
	}
	return agreement{
		same:      float64(same) / float64(len(ours)),
		meanImage: math.Sqrt(ms),
		mean:      a.mean() / b.mean(),
		sd:        a.sd() / b.sd(),
		texture:   a.texture / b.texture,
	}
}

// moments holds sums over the pixels of images. texture sums the absolute differences of neighbours in a row.
type moments struct{ n, sum, squares, texture float64 }

func (m *moments) add(images []uint8) {
	for i, u := range images {
		v := float64(u)
		m.n++
		m.sum += v
		m.squares += v * v
		if i%side > 0 {
			m.texture += math.Abs(v - float64(images[i-1]))
		}
	}
}

func (m *moments) mean() float64 { return m.sum / m.n }
func (m *moments) sd() float64   { return math.Sqrt(m.squares/m.n - m.mean()*m.mean()) }

func agreementTable(rows []agreement) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| corruption\t| within 2 levels\t| mean image\t| mean\t| deviation\t| texture\t| trained on theirs\t| on ours\t|")
	fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	for i, r := range rows {
		fmt.Fprintf(w, "| %s\t", r.name)
		if !corruptions[i].random {
			fmt.Fprintf(w, "| %.3f %%\t|\t|\t|\t|\t|\t|\t|\n", 100*r.same)
			continue
		}
		fmt.Fprintf(w, "| random\t| %.2f %%\t| %+.2f %%\t| %+.2f %%\t| %+.2f %%\t| %.1f %%\t| %.1f %%\t|\n",
			100*r.meanImage, 100*(r.mean-1), 100*(r.sd-1), 100*(r.texture-1), 100*r.trainedTheirs, 100*r.trainedOurs)
	}
	w.Flush()
	return b.String()
}
