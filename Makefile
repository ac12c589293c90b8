# make help lists the targets.
GO        ?= go
PYTHON    ?= python3
FUZZTIME  ?= 1m
BENCHTIME ?= 2s
VENV      := build/venv
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

.PHONY: demo
demo: ## the main job on embedded data: choose samples, compare with uniform
	$(GO) run ./cmd/amtrl run

.PHONY: build
build: ## build bin/amtrl
	$(GO) build -trimpath -o bin/amtrl ./cmd/amtrl

.PHONY: test
test: deps lint ## install what the tests need and run them all
	AMTRL_PYTHON=$(call python) $(GO) test ./...
	$(GO) test -tags purego ./cpu/...
	CGO_ENABLED=0 $(GO) build ./...

.PHONY: race
race: ## the tests of everything concurrent under the race detector
	$(GO) test -race -short ./backend/... ./cpu/... ./dataset/... ./pipeline/...

.PHONY: lint
lint: check-generate ## gofmt, vet, staticcheck, generated code up to date
	@bad=$$(gofmt -l .); [ -z "$$bad" ] || { echo "not gofmt'ed: $$bad"; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME (1m)
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "== $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$pkg; \
	  done; done

.PHONY: bench
bench: deps ## time the kernels and a whole ERM beside NumPy, SciPy and PyTorch
	AMTRL_PYTHON=$(call python) $(GO) run ./bench

.PHONY: microbench
microbench: ## Go benchmarks of the CPU backend
	$(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) ./cpu/...

.PHONY: generate
generate: ## regenerate the vector code
	$(GO) generate ./cpu/internal/vec

.PHONY: check-generate
check-generate: ## fail where the vector code is not what its generator writes
	$(GO) -C cpu/internal/vec/gen test .

# NumPy and SciPy, for the tests that cross-check file formats and for bench.
# Where they cannot be had, those tests say so and skip.
.PHONY: deps
deps: ## install what tests and bench need besides Go modules, into build/venv
	@$(GO) mod download
	@[ -x $(VENV)/bin/python ] || $(PYTHON) -m venv $(VENV) || echo "no Python venv: tests that compare with NumPy will skip"
	@[ ! -x $(VENV)/bin/python ] || $(VENV)/bin/python -c 'import numpy, scipy' 2>/dev/null \
	  || $(VENV)/bin/python -m pip install -q numpy scipy || echo "no NumPy: tests that compare with it will skip"

python = $(abspath $(VENV)/bin/python)

.PHONY: clean
clean: ## remove what was built
	rm -rf bin build
