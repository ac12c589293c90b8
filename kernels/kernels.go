// Package kernels holds the CUDA sources of the operations, one to a file, and
// describes how each is launched.
//
// The sources are compiled at run time, by NVRTC, with [Headers] passed by name.
// An entry point is launched as one of the constructors here says ([Axpy],
// [Gradient.Launches], ...): they compute grid, block and shared memory and pack
// the arguments. Nothing here needs CUDA.
//
// For one device every kernel gives the same bytes each time: sums are in a
// fixed order.
package kernels

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed *.cu *.cuh
var files embed.FS

// Source is a file of CUDA C++, and how to compile it.
type Source struct {
	// Name is the file's name, such as "dots.cu".
	Name string
	Text string
	// Define is a macro with its value, such as "GRADIENT_WIDTH=128", or empty. Several sources may share a file: each
	// defines other entry points by its macro.
	Define string

	entries []string
}

// Sources returns the translation units, in order of name.
func Sources() []Source {
	var all []Source
	for _, s := range read("*.cu") {
		if s.Name == "task_gradient.cu" {
			for _, w := range gradientWidths {
				all = append(all, Source{s.Name, s.Text, fmt.Sprint("GRADIENT_WIDTH=", w), []string{fmt.Sprint("task_gradient_", w)}})
			}
			continue
		}
		if s.entries = several[s.Name]; s.entries == nil {
			s.entries = []string{strings.TrimSuffix(s.Name, ".cu")}
		}
		all = append(all, s)
	}
	return all
}

// Headers returns the files that the sources include, in order of name.
func Headers() []Source { return read("*.cuh") }

func read(pattern string) []Source {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		panic(err) // the patterns are constants
	}
	all := make([]Source, len(names))
	for i, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // Glob has just seen it
		}
		all[i] = Source{Name: path.Base(name), Text: string(text)}
	}
	return all
}

// several lists the entry points of files that define other kernels than one with the name of the file.
var several = map[string][]string{
	"combine.cu":     {"combine_f32", "combine_f64"},
	"copy_matrix.cu": {"copy_matrix_f32", "copy_matrix_f64"},
	"dots.cu":        {"dots_u8", "dots_f16", "dots_f32", "dots_f64", "dots_reduce"},
	"elementwise.cu": {
		"axpy_f32", "axpy_f64", "convert_f32_f64", "convert_f64_f32", "fill_f32", "fill_f64", "scale_f32", "scale_f64",
	},
	"norm.cu":          {"norm_f64", "norm_reduce"},
	"scale_columns.cu": {"scale_columns_f32", "scale_columns_f64"},
	"symmetrise.cu":    {"symmetrise_f32", "symmetrise_f64"},
	"transpose.cu":     {"transpose_f32", "transpose_f64"},
}

// EntryPoints returns the names of the kernels that a source defines.
func (s Source) EntryPoints() []string { return slices.Clone(s.entries) }
