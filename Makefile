# make            build bin/xmd
# make demo       run examples/demo.xmd on the built-in scripted agent: no account, no network
# make test       all tests, with the race detector
# make real       the real agents, pinned and driven by a scripted model on loopback; writes specs/evidence.md
#                 AGENTS=codex,grok narrows to these, AGENTS=installed takes what is on PATH; then bin/evidence.md is written
# make live       AGENT=codex: two prompts to an agent on your own sign-in; says what it will do and asks first
# make cross      compile for Linux, macOS and Windows; nothing is run there
# make lint       gofmt, go vet, golangci-lint (pinned, built into the cache folder)
# make bench      xmd beside the least a Go program can be, and acpx where make real has installed it; writes specs/benchmarks.md
#                 ONLY=regexp narrows, N=9 repeats more, AGENT_BIN= and FLOOR_BIN= measure with others; then bin/benchmarks.md is written
# make bench-short  a minute of it, which fails on ratios and on lost output, never on a time
# make microbench Go benchmarks of the stages; BENCH=regexp narrows, COUNT=10 repeats, BASE=gitref compares with that state by benchstat
# make soak       xmd under random kills for SOAK (10m), then every promise about what is on record; SEED=N repeats a choice of kills
# make soak-short the same for 45s, as in CI
# make faults     every fault of the scripted agent at 1, 10 and 64 sessions; make test takes a part of them
# make fuzz       every fuzz target in turn for FUZZTIME (60s)
# make vuln       govulncheck (pinned) with the vulnerability database as a pinned Go module; VULNDB=latest takes today's,
#                 VULN_GO=local judges the Go of this machine instead of the one that go.mod names

SHELL      := /bin/bash
.SHELLFLAGS := -euo pipefail -c

GO         ?= go
TAGS       := urfave_cli_no_docs
VERSION    ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
CACHE      := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)
# Without -buildvcs=false a build fails wherever git distrusts the folder's owner; the version is stamped by -X instead.
GOFLAGS_   := -tags=$(TAGS) -buildvcs=false

TEST_TIMEOUT ?= 40m
REAL_TIMEOUT ?= 45m
# How many tests of real programs run at once. Most of their time is waiting.
REAL_PARALLEL ?= 4
# The packages that hold tests against real programs, and the names of those tests.
REAL_PKGS_ALL := ./agents/... ./cmd/xmd/...
REAL_RUN_ALL  := ^TestReal
AGENTS     ?=
comma      := ,
INSTALLED  := $(filter installed,$(subst $(comma), ,$(AGENTS)))
ifneq ($(INSTALLED),)
REAL_PKGS  ?= ./agents/agenttest
REAL_RUN   ?= ^TestRealInstalled$$
else
REAL_PKGS  ?= $(REAL_PKGS_ALL)
REAL_RUN   ?= $(REAL_RUN_ALL)
endif
# Only a whole run writes the page of the specifications: in that of any other run most cells are "not run".
ifeq ($(AGENTS)|$(REAL_PKGS)|$(REAL_RUN),|$(REAL_PKGS_ALL)|$(REAL_RUN_ALL))
REAL_PAGE  ?= specs/evidence.md
else
REAL_PAGE  ?= bin/evidence.md
endif
FUZZTIME   ?= 60s
SOAK       ?= 10m
SEED       ?= 0
# Of make bench. A page of the specifications is written by a whole run with our own agent and floor only.
ONLY       ?=
N          ?=
AGENT_BIN  ?=
FLOOR_BIN  ?=
BENCH_PAGE ?= $(if $(strip $(ONLY)$(N)$(AGENT_BIN)$(FLOOR_BIN)),bin/benchmarks.md,specs/benchmarks.md)
# Where the benchmarks' state folders are: on a disk, as a person's is.
BENCH_DIR  ?= $(CACHE)
BENCH_ARGS  = $(if $(ONLY),-only '$(ONLY)') $(if $(N),-n $(N)) $(if $(AGENT_BIN),-agent '$(AGENT_BIN)') $(if $(FLOOR_BIN),-floor '$(FLOOR_BIN)')
# Of make microbench.
BENCH      ?= .
BENCHTIME  ?= 0.2s
COUNT      ?= 6
BASE       ?=
MICRO_PKGS := ./lang ./lang/plan ./runtime ./runtime/event ./runtime/journal ./runtime/store ./handoff ./agents/wire ./agents/acp
BENCHSTAT_VERSION := v0.0.0-20260908200009-22c9c6c9d4da
BENCHSTAT  := $(CACHE)/xmd-tools/benchstat-$(BENCHSTAT_VERSION)/benchstat

LINT_VERSION := v2.15.0
LINT_DIR   := $(CACHE)/xmd-tools/golangci-lint-$(LINT_VERSION)-$(shell $(GO) env GOVERSION 2>/dev/null)
LINT       := $(LINT_DIR)/golangci-lint

# The database comes from the module proxy like everything else, so that a machine without the web passes and fails as any other, and
# so that no new entry turns an old commit red. The program that makes its index is its own.
VULN_VERSION   := v1.9.0
VULNDB_VERSION := v0.0.0-20261105234957-e22db6528018
VULNDB         ?= $(VULNDB_VERSION)
VULN_GO        ?= $(shell sed -n 's/^toolchain //p' go.mod)
VULN_DIR       := $(CACHE)/xmd-tools/govulncheck-$(VULN_VERSION)-$(shell $(GO) env GOVERSION 2>/dev/null)
GOVULNCHECK    := $(VULN_DIR)/govulncheck
INDEXDB        := $(VULN_DIR)/indexdb-$(VULNDB_VERSION)

.DELETE_ON_ERROR:
.PHONY: build demo test real live cross lint bench bench-short microbench soak soak-short faults fuzz vuln clean help

# The Go tool decides what is out of date, so the binary is always asked for.
build:
	CGO_ENABLED=0 $(GO) build $(GOFLAGS_) -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/xmd ./cmd/xmd

# A state folder of its own, so that each demonstration begins anew and leaves nothing behind.
demo: build
	@state=$$(mktemp -d); trap 'rm -rf "$$state"' EXIT; bin/xmd run --state-dir "$$state" examples/demo.xmd

test:
	GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(GO) test $(GOFLAGS_) -race -timeout $(TEST_TIMEOUT) ./...

# Installs the pinned programs into a cache outside the clone, runs every TestReal… against them, and writes the page even
# if some failed. What cannot be installed is reported as not run, never as passed. The evidence of a run is in a folder of
# that run, so that runs at the same time do not mix and nothing of an earlier one counts.
real: build
	$(if $(INSTALLED),@echo 'the agents on PATH: nothing is installed',$(GO) run $(GOFLAGS_) ./agents/agenttest/real $(if $(AGENTS),$(subst $(comma), ,$(AGENTS)) acpx node22))
	@programs=$${XMD_REAL_CACHE:-$(CACHE)/xmd-real}/programs.json; \
	bin() { awk -F'"' -v want="$$1" '$$2 == "name" { name = $$4 } $$2 == "bin" && name == want { print $$4 }' "$$programs"; }; \
	evidence=$$(mktemp -d); trap 'rm -rf "$$evidence"' EXIT; \
	export XMD_REAL=1 XMD_REAL_EVIDENCE="$$evidence" XMD_REAL_AGENTS='$(AGENTS)' XMD_REAL_BIN='$(CURDIR)/bin/xmd' XMD_REAL_NODE22="$$(bin node22)" XMD_REAL_ACPX="$$(bin acpx)"; \
	status=0; set -x; \
	$(GO) test $(GOFLAGS_) -count=1 -p 1 -parallel $(REAL_PARALLEL) -timeout $(REAL_TIMEOUT) -run '$(REAL_RUN)' -v $(REAL_PKGS) || status=$$?; \
	$(GO) run $(GOFLAGS_) ./agents/agenttest/real evidence "$$evidence" $(REAL_PAGE) || status=$$?; \
	exit $$status

cross:
	@for target in linux/amd64 linux/arm64 darwin/arm64 windows/amd64; do \
	  echo "compiling for $$target"; \
	  GOOS=$${target%/*} GOARCH=$${target#*/} CGO_ENABLED=0 $(GO) build $(GOFLAGS_) -o /dev/null ./cmd/xmd; \
	done

# The person's own account. Refuses without a terminal and in CI, and nothing here calls it.
live: build
	@$(GO) run $(GOFLAGS_) ./agents/agenttest/real live '$(AGENT)' bin/xmd examples/continue.xmd

lint: $(LINT)
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet $(GOFLAGS_) ./...
	$(LINT) run ./...

# Built from the module proxy with its own pinned dependencies, once per version and Go release.
$(LINT):
	@echo "building golangci-lint $(LINT_VERSION) into $(LINT_DIR)"
	GOFLAGS=-buildvcs=false GOBIN='$(LINT_DIR)' $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

# acpx and its Node are those of make real, if it has installed them.
bench: build
	@programs=$${XMD_REAL_CACHE:-$(CACHE)/xmd-real}/programs.json; \
	bin() { [ ! -e "$$programs" ] || awk -F'"' -v want="$$1" '$$2 == "name" { name = $$4 } $$2 == "bin" && name == want { print $$4 }' "$$programs"; }; \
	$(GO) run $(GOFLAGS_) ./cmd/bench -page $(BENCH_PAGE) -acpx "$$(bin acpx)" -node "$$(bin node22)" -dir '$(BENCH_DIR)' $(BENCH_ARGS)

bench-short: build
	$(GO) run $(GOFLAGS_) ./cmd/bench -short -dir '$(BENCH_DIR)' $(BENCH_ARGS)

# With BASE, that state is put beside the clone and both are run in turn, so that what else the machine does meets both.
microbench: $(if $(BASE),$(BENCHSTAT))
	@scratch=$$(mktemp -d); base="$$scratch/base"; \
	trap '[ ! -d "$$base" ] || git worktree remove --force "$$base"; rm -rf "$$scratch"' EXIT; \
	run() { (cd "$$1" && pkgs=(); for pkg in $(MICRO_PKGS); do [ ! -d "$$pkg" ] || pkgs+=("$$pkg"); done; \
	  $(GO) test $(GOFLAGS_) -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem -count $$2 -timeout 60m "$${pkgs[@]}"); }; \
	if [ -z '$(BASE)' ]; then run . $(COUNT); exit; fi; \
	git worktree add --quiet --detach "$$base" '$(BASE)'; \
	for round in $$(seq $(COUNT)); do echo "round $$round of $(COUNT)"; run "$$base" 1 >>"$$scratch/old.txt"; run . 1 >>"$$scratch/new.txt"; done; \
	$(BENCHSTAT) '$(BASE)'="$$scratch/old.txt" now="$$scratch/new.txt"

$(BENCHSTAT):
	@echo "building benchstat $(BENCHSTAT_VERSION) into $(dir $@)"
	GOFLAGS=-buildvcs=false GOBIN='$(dir $@)' $(GO) install golang.org/x/perf/cmd/benchstat@$(BENCHSTAT_VERSION)

# What it finds ends it with an error and keeps its folder; the last lines say how to repeat it.
soak: build
	$(GO) run $(GOFLAGS_) ./cmd/soak -xmd bin/xmd -for $(SOAK) -seed $(SEED)

soak-short:
	@$(MAKE) soak SOAK=45s

faults:
	XMD_FAULTS=all $(GO) test $(GOFLAGS_) -count=1 -timeout 90m -run '^TestFaults' -v ./cmd/xmd

fuzz:
	@dirs=$$(grep -rlE --include='*_test.go' '^func Fuzz' . | xargs -rn1 dirname | sort -u || true); \
	for dir in $$dirs; do \
	  names=$$($(GO) test $(GOFLAGS_) -list '^Fuzz' "$$dir"); \
	  for target in $$(grep '^Fuzz' <<<"$$names"); do \
	    echo "== $$dir $$target for $(FUZZTIME)"; \
	    $(GO) test $(GOFLAGS_) -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x -timeout 60m "$$dir"; \
	  done; \
	done

# A database in which the known hole of the module in .ci/vulnerable is not found would find nothing anywhere, and fails first.
vuln: $(GOVULNCHECK) $(INDEXDB)
	@found=$$(cd '$(VULN_DIR)' && $(GO) mod download -json golang.org/x/vulndb@$(VULNDB)); \
	field() { sed -n "s/^\t\"$$1\": \"\(.*\)\",\{0,1\}$$/\1/p" <<<"$$found"; }; \
	db='$(VULN_DIR)'/db-$$(field Version); \
	if [ ! -d "$$db" ]; then \
	  making=$$(mktemp -d '$(VULN_DIR)'/making-XXXXXX); trap 'rm -rf "$$making"' EXIT; \
	  '$(INDEXDB)' -vulns "$$(field Dir)"/data/osv -out "$$making"/db; \
	  mv -T "$$making"/db "$$db" 2>/dev/null || [ -d "$$db" ]; \
	fi; \
	export GOTOOLCHAIN=$(or $(VULN_GO),local); \
	echo "vulnerabilities: $$(basename "$$db"), $$($(GO) version)"; \
	code=0; known=$$(cd .ci/vulnerable && '$(GOVULNCHECK)' -db "file://$$db" ./... 2>&1) || code=$$?; \
	if [ "$$code" != 3 ] || ! grep -q GO-2021-0113 <<<"$$known"; then echo "the known hole in .ci/vulnerable is not found:"; echo "$$known"; exit 1; fi; \
	'$(GOVULNCHECK)' -db "file://$$db" -tags $(TAGS) ./...

$(GOVULNCHECK):
	@echo "building govulncheck $(VULN_VERSION) into $(VULN_DIR)"
	GOFLAGS=-buildvcs=false GOBIN='$(VULN_DIR)' $(GO) install golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION)

$(INDEXDB):
	@mkdir -p '$(VULN_DIR)'
	GOFLAGS=-buildvcs=false GOBIN='$(VULN_DIR)' $(GO) install golang.org/x/vulndb/cmd/indexdb@$(VULNDB_VERSION)
	mv '$(VULN_DIR)'/indexdb '$@'

clean:
	rm -rf bin

help:
	@sed -n 's/^# \(make .*\)/\1/p; s/^#\( \{16,\}.*\)/\1/p' Makefile
