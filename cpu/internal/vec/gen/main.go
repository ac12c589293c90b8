// Command gen writes the assembly of package vec. From the package's folder:
//
//	go generate
//
// It writes the same bytes every time, so the files are up to date if git sees
// no change afterwards.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// files lists the files to write, by name, with the function that writes the code of a file for one level.
var files = []struct {
	name  string
	write func(*asm)
}{
	{"grad", taskGrads},
	{"outputs", func(a *asm) { gathers(a); products(a); updates(a) }},
	{"sums", func(a *asm) { dots(a); combine(a) }},
	{"convert", converts},
	{"gemm", gemmTile},
	{"dgemm", dgemmTiles},
	{"narrow", narrow},
	{"conv", func(a *asm) { convTile(a); poolRow(a); unpoolRow(a); adam(a) }},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen FOLDER")
		os.Exit(2)
	}
	for _, f := range files {
		if err := generate(filepath.Join(os.Args[1], f.name+"_amd64"), f.write); err != nil {
			fmt.Fprintf(os.Stderr, "gen: %s: %v\n", f.name, err)
			os.Exit(1)
		}
	}
}

// generate writes the assembly and the Go declarations of one file.
func generate(base string, write func(*asm)) error {
	ctx := build.NewContext()
	ctx.ConstraintExpr("!purego")
	for _, level := range []level{avx2, avx512} {
		write(&asm{Context: ctx, level: level})
	}
	file, err := ctx.Result()
	if err != nil {
		return err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return err
	}
	cfg := printer.Config{Name: "gen (package vec/gen)", Pkg: "vec"}
	if err := print(printer.NewGoAsm(cfg), file, base+".s"); err != nil {
		return err
	}
	return print(printer.NewStubs(cfg), file, base+".go")
}

func print(p printer.Printer, file *ir.File, name string) error {
	b, err := p.Print(file)
	if err != nil {
		return err
	}
	return os.WriteFile(name, b, 0o644)
}
