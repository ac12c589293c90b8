# make help lists the targets.
GO        ?= go
PYTHON    ?= python3
FUZZTIME  ?= 1m
BENCHTIME ?= 2s
VENV      := build/venv
WHEELS    := build
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# With -trimpath in some builds only, everything would be compiled twice.
export GOFLAGS := $(GOFLAGS) -trimpath

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

.PHONY: demo
demo: ## the main job on embedded data: choose samples, compare with uniform
	$(GO) run ./cmd/amtrl run --target-samples 100 --budget 2500 --floor 5

.PHONY: build
build: ## build bin/amtrl
	$(GO) build -o bin/amtrl ./cmd/amtrl

.PHONY: test
test: ## install what the tests need and run them all
	@$(MAKE) --jobs=2 deps lint # downloads beside work
	AMTRL_PYTHON=$(call python) AMTRL_CUDA_WHEELS=$(abspath $(WHEELS)) $(GO) test -vet=off -timeout 18m -ldflags '-s -w' ./...
	$(GO) test -vet=off -tags purego ./cpu/...

.PHONY: race
race: ## test everything concurrent under the race detector
	$(GO) test -race -short ./backend/... ./batch ./batch/k8s ./batch/local ./batch/slurm ./cpu/... ./cuda ./dataset/... \
	  ./internal/atomicfile ./internal/filelock ./internal/lease ./pipeline/... ./runs/...

# Under -trimpath, what cgo wrote for another clone with the same sources, perhaps deleted since,
# is taken from the build cache, and vet's cgocall looks for that clone's files.
.PHONY: lint
lint: check-generate check-docker check-platforms ## gofmt, vet, staticcheck, other platforms, generated code and Dockerfile up to date
	@bad=$$(gofmt -l .); [ -z "$$bad" ] || { echo "not gofmt'ed: $$bad"; exit 1; }
	$(GO) vet -cgocall=false ./...
	$(GO) vet -trimpath=false -cgocall $$($(GO) list -f '{{if .CgoFiles}}{{.ImportPath}}{{end}}' ./...)
	$(GO) run $(STATICCHECK) ./...

# Kubernetes' own API server and Job controller, with a stand-in for a node. The first
# build takes some minutes, 1.3 GB of modules and 3 GB of build cache.
KUBE_VERSION := v1.34.4
KUBE_FLAGS   := -s -w $(foreach p,k8s.io/component-base/version k8s.io/client-go/pkg/version,\
                -X $(p).gitVersion=$(KUBE_VERSION) -X $(p).gitMajor=1 -X $(p).gitMinor=34)

.PHONY: kubelab
kubelab: ## sweeps as Indexed Jobs on a real API server and Job controller; one verdict per line
	@mkdir -p build/kubelab
	nice -n 19 $(GO) -C batch/kubelab build -ldflags '$(KUBE_FLAGS)' -o $(abspath build/kubelab)/ . k8s.io/kubernetes/cmd/kubectl
	$(GO) build -o build/kubelab/amtrl ./cmd/amtrl
	AMTRL_KUBELAB=$(abspath build/kubelab) $(GO) test -v -count=1 -timeout 30m -run '^TestKubelab$$' ./batch/k8s

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (1m), with at most a second to minimise an input
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "== $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$pkg; \
	  done; done

.PHONY: chaos
chaos: ## four processes that ask and tell one study 200 times each, killed at random
	AMTRL_CHAOS=200 $(GO) test -v -count=1 -timeout 60m -run '^TestStudyChaos$$' ./cmd/amtrl

.PHONY: study-speed
study-speed: ## time a study of ten million rows
	AMTRL_STUDY_SPEED=1 $(GO) test -v -count=1 -run '^TestStudySpeed$$' ./cmd/amtrl

.PHONY: bench
bench: deps-python ## time the kernels and a whole ERM beside NumPy, SciPy and PyTorch
	AMTRL_PYTHON=$(call python) $(GO) run ./bench

.PHONY: bench-large
LARGE ?=
bench-large: deps-python ## import, run and predict 10 million rows of Parquet; LARGE='-rows 100000' for a trial
	AMTRL_PYTHON=$(call python) $(GO) run ./bench/large $(LARGE)

BASE ?= HEAD

.PHONY: same-bytes
same-bytes: ## compare the files of run, sweep and a batch with those of a build of BASE (HEAD), byte for byte
	$(GO) run ./bench/samebytes -base $(BASE)

# The programs for a machine with a GPU and without Go: copy the folder there, with this
# file or without it (sh build/gpu/test-gpu.sh).
GPU := build/gpu
GPU_MIB := 70

.PHONY: gpu-bundle
gpu-bundle: ## build what test-gpu and bench-gpu need into build/gpu
	mkdir -p $(GPU)
	$(GO) build -ldflags '-s -w' -o $(GPU)/amtrl ./cmd/amtrl
	$(GO) build -ldflags '-s -w' -o $(GPU)/bench ./bench/gpu
	$(GO) test -c -ldflags '-s -w' -o $(GPU)/check.test ./bench/gpu/check
	cp bench/gpu/*.sh $(GPU)/
	@size=$$(du -cm $(GPU)/amtrl $(GPU)/bench $(GPU)/check.test | tail -n 1 | cut -f1); echo "$(GPU): $$size MiB"; \
	  [ "$$size" -le $(GPU_MIB) ] || { echo "expected at most $(GPU_MIB) MiB"; exit 1; }

# Files are given by name, so that results of the scripts in the folder are left out.
.PHONY: gpu-tar
gpu-tar: gpu-bundle ## pack build/gpu into one file, build/gpu.tar.gz
	tar -C $(dir $(GPU)) -czf $(GPU).tar.gz \
	  $(addprefix $(notdir $(GPU))/,amtrl bench check.test $(notdir $(wildcard bench/gpu/*.sh)))
	@size=$$(du -m $(GPU).tar.gz | cut -f1); echo "$(GPU).tar.gz: $$size MiB"

.PHONY: test-gpu
test-gpu: $(if $(shell command -v $(GO)),gpu-bundle) ## check the GPU of this machine; TEST_GPU names the steps, such as sanitizers
	sh $(GPU)/test-gpu.sh $(TEST_GPU)

.PHONY: bench-gpu
bench-gpu: $(if $(shell command -v $(GO)),gpu-bundle) ## time the GPU of this machine beside PyTorch and CuPy; BENCH_GPU=-small for a trial
	sh $(GPU)/bench-gpu.sh $(BENCH_GPU)

.PHONY: check-docker
check-docker: ## check Dockerfile.cuda with Docker's parser and against the files here
	$(GO) -C internal/dockercheck test -count=1 .

.PHONY: check-platforms
check-platforms: ## compile and vet everything, tests included, for the other platforms
	$(GO) -C internal/typecheck test -count=1 .

.PHONY: microbench
microbench: ## Go benchmarks of the CPU backend
	$(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) ./cpu/...

.PHONY: generate
generate: ## regenerate the vector code
	$(GO) generate ./cpu/internal/vec

.PHONY: check-generate
check-generate: ## fail if the vector code is not what its generator writes
	$(GO) -C cpu/internal/vec/gen test .

# The figures of README come from a run whose bytes do not depend on the processor; TestReadmeFigures compares them with it.
FIGURE_RUN := --digits 4000 --target-samples 100 --floor 5 --budget 4000 --k 20

.PHONY: figures
figures: ## draw the figures of README anew
	rm -rf build/figures
	AMTRL_CPU=generic $(GO) run ./cmd/amtrl run $(FIGURE_RUN) --backend cpu --out build/figures/run
	$(GO) run ./cmd/amtrl report build/figures/run --figures build/figures
	mkdir -p docs/figures
	cp build/figures/labels.svg build/figures/spend.svg docs/figures/

.PHONY: deps
deps: deps-python deps-cuda deps-slurm deps-chromium ## install what tests and bench need besides Go modules, into build
	@$(GO) mod download

# Slurm, for the tests that run sweeps on it. As root on Debian or Ubuntu these tests must
# run; elsewhere they are skipped if Slurm is missing, unless AMTRL_REQUIRE_SLURM is set.
AMTRL_REQUIRE_SLURM ?= $(shell command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && echo 1)
export AMTRL_REQUIRE_SLURM

.PHONY: deps-slurm
deps-slurm:
	@batch/slurmtest/slurm-install

# A browser, for the tests that open pages in one, required in the same way by AMTRL_REQUIRE_CHROMIUM.
AMTRL_REQUIRE_CHROMIUM ?= $(shell command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && echo 1)
export AMTRL_REQUIRE_CHROMIUM

.PHONY: deps-chromium
deps-chromium: | deps-slurm # one apt-get at a time
	@report/chromium-install

# NumPy and SciPy, for the tests that cross-check file formats and for bench, and the
# packages with which others read and write tables. Where they cannot be installed, those
# tests say so and are skipped.
PYTHON_PACKAGES := numpy scipy pandas==3.1.1 pyarrow==26.0.1 safetensors==0.8.0 setuptools==80.9.0

.PHONY: deps-python
deps-python:
	@[ -x $(VENV)/bin/python ] || $(PYTHON) -m venv $(VENV) || echo "no Python venv: tests that compare with NumPy will skip"
	@[ ! -x $(VENV)/bin/python ] \
	  || $(VENV)/bin/python -c 'import setuptools.command.bdist_wheel, numpy, scipy, pandas, pyarrow, safetensors' 2>/dev/null \
	  || $(VENV)/bin/python -m pip install -q $(PYTHON_PACKAGES) || echo "no NumPy: tests that compare with it will skip"

# NVIDIA's own libraries and headers, for the tests that check the bindings and the
# kernels against them. No device is needed, and none of it to build or use amtrl.
# CUDA 12 is in its first release, which the bindings must fit, except for NVRTC, which
# must know current devices; CUDA 13 is in a recent one. 1.8 GB to download.
CUDA12 := nvidia-cuda-runtime-cu12==12.0.107 nvidia-nvjitlink-cu12==12.0.76 nvidia-cublas-cu12==12.0.1.189 \
          nvidia-cusparse-cu12==12.0.0.76 nvidia-cusolver-cu12==11.4.2.57 nvidia-cuda-nvrtc-cu12==12.9.86
CUDA13 := nvidia-cuda-runtime==13.5.37 nvidia-nvjitlink==13.5.37 nvidia-cublas==13.10.0.20 \
          nvidia-cusparse==12.9.4.2 nvidia-cusolver==12.4.1.2 nvidia-cuda-nvrtc==13.5.37 \
          nvidia-cuda-nvdisasm==13.5.37

.PHONY: deps-cuda
deps-cuda: $(WHEELS)/cuda12/complete $(WHEELS)/cuda13/complete

$(WHEELS)/cuda12/complete: PACKAGES = $(CUDA12)
$(WHEELS)/cuda13/complete: PACKAGES = $(CUDA13)
$(WHEELS)/cuda%/complete: | deps-python
	rm -rf $(@D)
	$(VENV)/bin/python -m pip install -q --no-deps --no-compile --no-cache-dir --target $(@D) $(PACKAGES)
	touch $@

python = $(abspath $(VENV)/bin/python)

.PHONY: clean
clean: ## remove what was built
	rm -rf bin build
