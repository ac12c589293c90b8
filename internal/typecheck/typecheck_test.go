// Package typecheck checks that every package of amtrl, with its tests, compiles and passes go vet on platforms other
// than this machine's. It reads everything from source, in a fraction of the time that go vet takes to compile the
// imports of each package. The few analyzers of vet that would have to read all imports too run only in go vet on this
// machine.
package typecheck

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/appends"
	"golang.org/x/tools/go/analysis/passes/asmdecl"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/composite"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/defers"
	"golang.org/x/tools/go/analysis/passes/directive"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/framepointer"
	"golang.org/x/tools/go/analysis/passes/hostport"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/loopclosure"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/slog"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/testinggoroutine"
	"golang.org/x/tools/go/analysis/passes/tests"
	"golang.org/x/tools/go/analysis/passes/timeformat"
	"golang.org/x/tools/go/analysis/passes/unmarshal"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/packages"
)

var vet = []*analysis.Analyzer{
	appends.Analyzer,
	asmdecl.Analyzer,
	assign.Analyzer,
	atomic.Analyzer,
	bools.Analyzer,
	buildtag.Analyzer,
	composite.Analyzer,
	copylock.Analyzer,
	defers.Analyzer,
	directive.Analyzer,
	errorsas.Analyzer,
	framepointer.Analyzer,
	hostport.Analyzer,
	ifaceassert.Analyzer,
	loopclosure.Analyzer,
	nilfunc.Analyzer,
	shift.Analyzer,
	sigchanyzer.Analyzer,
	slog.Analyzer,
	stdmethods.Analyzer,
	stringintconv.Analyzer,
	structtag.Analyzer,
	testinggoroutine.Analyzer,
	tests.Analyzer,
	timeformat.Analyzer,
	unmarshal.Analyzer,
	unreachable.Analyzer,
	unsafeptr.Analyzer,
}

func TestPlatforms(t *testing.T) {
	for _, platform := range []string{"linux/arm64", "darwin/arm64", "windows/amd64"} {
		t.Run(strings.ReplaceAll(platform, "/", " "), func(t *testing.T) {
			system, processor, _ := strings.Cut(platform, "/")
			config := &packages.Config{
				Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
					packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
				Dir: "../..", Tests: true,
				Env: append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor),
			}
			all, err := packages.Load(config, "./...")
			if err != nil {
				t.Fatal(err)
			}
			if len(all) < 40 {
				t.Errorf("%d packages", len(all))
			}
			said := map[string]bool{} // a package and its variant with tests have the same errors
			packages.Visit(all, nil, func(p *packages.Package) {
				for _, e := range p.Errors {
					if text := fmt.Sprint(e); !said[text] {
						said[text] = true
						t.Error(text)
					}
				}
			})
			if t.Failed() {
				return
			}
			graph, err := checker.Analyze(vet, all, nil)
			if err != nil {
				t.Fatal(err)
			}
			for action := range graph.All() {
				if action.Err != nil && action.IsRoot {
					t.Errorf("%s: %v", action, action.Err)
				}
				for _, d := range action.Diagnostics {
					if text := fmt.Sprintf("%s: %s", action.Package.Fset.Position(d.Pos), d.Message); action.IsRoot && !said[text] {
						said[text] = true
						t.Error(text)
					}
				}
			}
		})
	}
}
