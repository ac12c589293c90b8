package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/corrupt"
	"github.com/amtrl/amtrl/internal/flags"
)

type mnistcOptions struct {
	from, part flags.Value[string]
	limit      flags.Value[int]
	seed       flags.Value[uint64]
	makeOptions
}

func (o *mnistcOptions) addFlags(set *flags.Set) {
	set.Group(groupData)
	set.Text(&o.from, "from", "`FOLDER` with *images*idx3* and *labels*idx1*, gzip or not (required)", "")
	set.Text(&o.part, "part", "which files to take where the folder has several: the start of their names", "t10k")
	set.Int(&o.limit, "limit", "number of images to take from the start, 0 for all", 0)
	set.Seed(&o.seed, "seed", "selects the random numbers of the corruptions")
	o.makeOptions.addFlags(set)
}

func (o *mnistcOptions) check() error {
	return cmp.Or(flags.Required(o.from, "the folder with the IDX files"), o.makeOptions.check(), flags.Between(o.limit, 0, 1<<30))
}

func (o *mnistcOptions) run(ctx context.Context) error {
	base, err := unlessInterrupted(ctx, o.read)
	if err != nil {
		return err
	}
	names := corrupt.Names()
	pools := make([][]uint8, len(names))
	for i, name := range names {
		o.note("%d/%d %s", i+1, len(names), name)
		pools[i], err = unlessInterrupted(ctx, func() ([]uint8, error) {
			return corrupt.Generate(name, base.images, o.seed.V, processors(o.threads.V))
		})
		if err != nil {
			return err
		}
	}
	return o.write(names, pools, base.labels)
}

// mnist holds images of 28 by 28 pixels and their labels.
type mnist struct{ images, labels []uint8 }

func (o *mnistcOptions) read() (m mnist, err error) {
	imagePath, labelPath, err := findIDX(o.from.V, o.part.V, o.part.Set)
	if err != nil {
		return m, err
	}
	images, rows, height, width, err := dataset.ReadIDXImages(imagePath)
	if err != nil {
		return m, err
	}
	if height != 28 || width != 28 {
		return m, fmt.Errorf("%s: expected images of 28 by 28, found %d by %d", imagePath, height, width)
	}
	labels, err := dataset.ReadIDXLabels(labelPath)
	if err != nil {
		return m, err
	}
	if len(labels) != rows {
		return m, fmt.Errorf("%s: expected %d labels as there are images in %s, found %d", labelPath, rows, filepath.Base(imagePath), len(labels))
	}
	if n := o.limit.V; n > 0 && n < rows {
		images, labels = images[:n*height*width], labels[:n]
	}
	return mnist{images, labels}, nil
}

// findIDX returns the paths of the image file whose name starts with part and of the label file with the same prefix.
// If the user did not ask for the part and the folder has only one image file, that file is taken whatever its prefix.
func findIDX(dir, part string, asked bool) (images, labels string, err error) {
	imageFiles, err := idxFiles(dir, "images", "idx3")
	if err != nil {
		return "", "", err
	}
	labelFiles, err := idxFiles(dir, "labels", "idx1")
	if err != nil {
		return "", "", err
	}
	wanted := part
	if !asked && len(imageFiles) == 1 {
		wanted = ""
	}
	image, err := onePart(dir, "images*idx3", imageFiles, wanted)
	if err != nil {
		return "", "", err
	}
	prefix, _, _ := strings.Cut(image, "images")
	label, err := onePart(dir, prefix+"labels*idx1", labelFiles, prefix+"labels")
	if err != nil {
		return "", "", err
	}
	return filepath.Join(dir, image), filepath.Join(dir, label), nil
}

// idxFiles lists the files of dir whose names contain both words, sorted by name. A compressed file is left out if the
// plain one is there.
func idxFiles(dir string, words ...string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || strings.HasPrefix(name, ".") || !strings.Contains(name, words[0]) || !strings.Contains(name, words[1]) {
			continue
		}
		// ReadDir sorts, so x comes before x.gz.
		if !slices.Contains(names, strings.TrimSuffix(name, ".gz")) {
			names = append(names, name)
		}
	}
	return names, nil
}

func onePart(dir, what string, names []string, part string) (string, error) {
	found := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, part) })
	switch {
	case len(names) == 0:
		return "", fmt.Errorf("%s: expected a file *%s*, found none", dir, what)
	case len(found) == 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s: expected one file *%s* that starts with %q, found %d of %s",
		dir, what, part, len(found), strings.Join(names, ", "))
}
