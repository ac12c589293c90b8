// Package typecheck checks that every package of amtrl, with its tests, compiles on the platforms that this machine is
// not. It reads all of it from source, in a tenth of the time that go vet takes to compile what each package imports.
package typecheck

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

func TestPlatforms(t *testing.T) {
	for _, platform := range []string{"linux/arm64", "darwin/arm64", "windows/amd64", "freebsd/amd64"} {
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
			said := map[string]bool{} // a package and what it is with its tests have the same errors
			packages.Visit(all, nil, func(p *packages.Package) {
				for _, e := range p.Errors {
					if text := fmt.Sprint(e); !said[text] {
						said[text] = true
						t.Error(text)
					}
				}
			})
		})
	}
}
