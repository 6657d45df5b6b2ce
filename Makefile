# rocwire. `make help` lists the targets.
GO         ?= go
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
LIB         = build/lib/libamdhip64.so.6
CFLAGS     ?= -O2 -Wall
# The first build takes minutes: on a terminal it names what it compiles.
PROGRESS   := $(shell [ -t 2 ] && echo -v)

.DEFAULT_GOAL := help
.PHONY: help demo picture build lib lib-Linux lib-Darwin windows darwin test bench conformance fuzz generate kernels lint platforms check-deploy check-cluster release check-release images clean

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' Makefile

demo: build ## build everything and run the main job on a simulated GPU
	@scripts/demo.sh

picture: build ## the README's pictures of the demo (docs/demo.svg) and of the page (docs/page.webp, which takes 6 minutes and chromium), from runs
	@scripts/demo.sh >build/demo.txt
	@$(GO) run scripts/picture.go <build/demo.txt >docs/demo.svg
	@$(GO) test -count=1 -timeout 20m ./exporter/page -run 'TestLiveWorker$$' -screenshot "$$PWD/docs/page.webp"

build: build/examples/hello_hip ## bin/hip-worker, bin/hip-session, bin/smi-remote, bin/gpu-exporter, build/lib/libamdhip64.so.6, build/examples
	@mkdir -p bin
	$(GO) build $(PROGRESS) -ldflags "$$(scripts/ldflags.sh)" -o bin/ ./cmd/...

build/examples/hello_hip: lib examples/hello_hip/hello_hip.c
	@mkdir -p build/examples
	$(CC) $(CFLAGS) -Ihip/include examples/hello_hip/hello_hip.c -o $@ $(LIB) -Wl,-rpath,'$$ORIGIN/../lib' -lm

lib: lib-$(shell uname -s) ## the drop-in libamdhip64.so.6 and libamd_smi.so.27, librocwire.so behind them, hsa/libhsa-runtime64.so.1, libaccelerator_amd.so; on a Mac the first three as .dylib

lib-Linux:
	@librocwire/build.sh build/lib
	@provider/libaccelerator_amd/build.sh build/lib

lib-Darwin:
	@librocwire/build_darwin.sh build/lib

windows: ## build/rocwire-windows-amd64.zip: DLLs, import libraries, smi-remote.exe, gpu-exporter.exe (needs gcc-mingw-w64-x86-64 and llvm-19)
	@scripts/windows.sh build

darwin: ## build/darwin/arm64 and build/darwin/amd64: smi-remote and gpu-exporter for macOS (its libraries: make lib on a Mac)
	@for arch in arm64 amd64; do mkdir -p build/darwin/$$arch && \
		CGO_ENABLED=0 GOOS=darwin GOARCH=$$arch $(GO) build -trimpath -ldflags "$$(scripts/ldflags.sh)" -o build/darwin/$$arch/ ./cmd/smi-remote ./cmd/gpu-exporter || exit 1; done

release: ## dist: packages (.deb, .rpm), an archive, what is in them (SBOM), checksums
	@scripts/release.sh dist

check-release: ## makes it twice, installs .deb and .rpm into a clean Debian 12, runs a program there, removes them; go install (root, debootstrap, rpm, ten minutes)
	@scripts/check_release.sh

images: ## every container image of deploy/docker, by buildah and without a registry, and what each is for, started (root, buildah, debootstrap; the first time ten minutes)
	@scripts/images.sh

test: ## all tests
	$(GO) test -timeout 20m ./worker ./librocwire/... ./wire ./... # what takes longest first

bench: build ## the performance table, with the floors measured in the same run
	@$(GO) run ./bench

conformance: build ## our C programs, random ones against clang on this CPU, and the outside world against us: the tests of AMD's libraries, amd-smi, llama.cpp, the OpenTelemetry Collector (fetches 5 GB, 25 GB unpacked, once; takes hours: go run ./conformance -only NAME)
	@$(GO) run ./conformance

fuzz: ## every decoder's fuzz target and random GPU programs, 30 s each
	@scripts/fuzz.sh 30s

generate: ## everything generated, from its source
	$(GO) generate ./...

kernels: ## compile the example kernels again (needs clang-19 and lld-19)
	examples/kernels/build.sh
	examples/bugs/build.sh

lint: ## gofmt, go vet, staticcheck, shellcheck
	@test -z "$$(gofmt -l .)" || { echo "gofmt:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	@command -v shellcheck >/dev/null || { echo "lint: shellcheck is missing (apt-get install shellcheck)"; exit 1; }
	shellcheck -x $$(git ls-files '*.sh') .ci/run

platforms: ## what is promised for Linux, Windows and macOS, on x86-64 and ARM: types and go vet for each, and one of each system compiled
	@scripts/platforms.sh

check-deploy: ## manifests, compose file, container files and systemd units, by the tools of those who run them
	cd deploy/check && $(GO) test -count=1 ./... # what it reads lies outside of its module, so the cache does not know of it

check-cluster: ## what is for Kubernetes, with a real control plane and nodes (etcd-server, runc, containerd; the first time it builds Kubernetes' programs, some minutes)
	cd deploy/cluster && $(GO) test -count=1 -timeout 90m ./... # which ends a build, too

clean: ## remove what was built
	rm -rf bin build dist
