# Run `make help` to list the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
export CGO_ENABLED ?= 0

.PHONY: help
help: ## show this
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 15

.PHONY: web
web: web/dist/index.html ## build the dashboard, which becomes part of the binary

# The dashboard is rebuilt when a source is newer. Without Node.js the binary has a
# page that says what is missing.
WEB_SOURCES := $(shell find web/src web/public web/index.html web/vite.config.ts web/tsconfig.json -type f)
NPM := $(shell command -v npm)

ifdef NPM
web/dist/index.html: web/node_modules/.package-lock.json $(WEB_SOURCES)
	cd web && npm run --silent build </dev/null

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund --loglevel=error </dev/null
	@touch $@
else
web/dist/index.html:
	@echo "Node.js is missing: the binary is built without the dashboard"
endif

.PHONY: build
build: web ## build bin/coppice
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/coppice ./cmd/coppice

.PHONY: demo
demo: build ## run 6 tasks in parallel in a sample repository, offline
	./bin/coppice demo

.PHONY: deps
deps: ## install what the tests need, or say what is missing
	./scripts/deps.sh
	@if [ -x test/agents/install.sh ]; then ./test/agents/install.sh </dev/null; fi
	@if [ -x test/conformance/install.sh ]; then ./test/conformance/install.sh </dev/null; fi
	@if [ -x test/forges/install-emulate.sh ]; then ./test/forges/install-emulate.sh </dev/null; fi
	@if [ -x test/forges/install.sh ]; then ./test/forges/install.sh </dev/null; fi

.PHONY: test
test: deps ## install what the tests need, then run all tests
	$(MAKE) --no-print-directory web
	cd web && npm test --silent </dev/null
	go vet ./...
	go test ./test/house
	./scripts/test.sh ./...
	COPPICE_GIT_FILES=off ./scripts/test.sh -skip '$(LONG)' ./workspace

# Tests of workspaces that are not repeated with git alone: they take long, or count
# processes.
LONG := TestCuts|TestCompose$$|TestCost|TestThousandAtOnce|TestOnlyLegalCommitsLand|TestLandedIsPacked|TestTrashRoundTrip|TestOrdinaryMoves|TestKilled|TestInspect|TestLegacy|TestDamage

.PHONY: test-upgrade
test-upgrade: ## continue the state of the commit BASE with this version
	./scripts/deps.sh
	@if [ -x test/forges/install-emulate.sh ]; then ./test/forges/install-emulate.sh </dev/null; fi
	BASE="$(BASE)" COPPICE_REQUIRE_AGENTS=1 go test -tags upgrade -count=1 -v -timeout 20m ./test/upgrade -run TestUpgrade

.PHONY: test-agents
test-agents: deps ## install and test further agent CLIs
	./test/agents/install-more.sh </dev/null
	COPPICE_REQUIRE_AGENTS=1 COPPICE_AGENTS_TABLE=whole TEST_TIMEOUT=45m ./scripts/test.sh -tags moreagents -run 'TestACP|TestChosenModel|TestLines|TestFurther' ./test/agents

.PHONY: agents-table
agents-table: deps ## test every agent CLI and rewrite the table in docs/agents.md
	./test/agents/install-more.sh </dev/null
	COPPICE_REQUIRE_AGENTS=1 go test -count=1 -timeout 45m ./test/agents -update-table
	COPPICE_REQUIRE_AGENTS=1 COPPICE_AGENTS_TABLE=whole go test -count=1 -timeout 45m -tags moreagents -run 'TestACP|TestChosenModel|TestLines|TestFurther' ./test/agents -update-table

.PHONY: first-hour
first-hour: deps ## a new user's first hour: real repositories and agent CLIs on a scripted model, with the time of each step
	COPPICE_REQUIRE_AGENTS=1 go test -tags firsthour -count=1 -v -timeout 40m ./test/firsthour

.PHONY: lint
lint: ## gofmt, vet, staticcheck
	@bad=$$(git ls-files --cached --others --exclude-standard '*.go' | xargs -r ls -d 2>/dev/null | xargs -r gofmt -l); \
	if [ -n "$$bad" ]; then echo "not formatted:"; echo "$$bad"; exit 1; fi
	go vet ./...
	go vet -tags upgrade ./test/upgrade
	go vet -tags firsthour ./test/firsthour
	go run $(STATICCHECK) ./...

.PHONY: cross
cross: web ## build for Linux and macOS, on both architectures
	@set -e; for p in $(PLATFORMS); do \
		echo "build $$p"; \
		GOOS=$${p%/*} GOARCH=$${p#*/} go build -trimpath -ldflags '$(LDFLAGS)' -o dist/coppice-$${p%/*}-$${p#*/} ./cmd/coppice; \
	done
	@echo "vet   darwin/arm64"; GOOS=darwin GOARCH=arm64 go vet ./...

.PHONY: sim
sim: ## 10,000 seeds of the simulation, of flows and of pull requests
	go test -count=1 -timeout 8h ./test/sim -seeds 10000 -flows 10000 -pulls 10000

.PHONY: chaos
chaos: deps ## 5 minutes of kills, 500 stops and 200 power cuts under load, every cut point, every step of a pull request
	go test -count=1 -timeout 4h ./test/e2e -run 'TestChaos|TestPowerCuts|TestStopsUnderLoad|TestPullKills' -chaos 5m -restarts 500 -cuts 200 -pullkills
	go test -count=1 -timeout 4h ./workspace -run TestCuts -cuts all

.PHONY: bench
bench: build ## compare with the baselines; takes about 15 minutes
	@if [ -x test/agents/install.sh ]; then ./test/agents/install.sh </dev/null; fi
	go run ./test/bench

.PHONY: bench-compare
bench-compare: ## compare with the commit BASE, in turns; ARGS takes --only, --n and --json
	go run ./test/bench compare --base "$(BASE)" $(ARGS)

SOAK ?= 1h

.PHONY: soak
soak: build ## run 20 sessions for SOAK (1h); fails when memory, descriptors, goroutines, state or latency grow
	go run ./test/bench soak --for $(SOAK)

.PHONY: fuzz
fuzz: ## fuzz every decoder for FUZZTIME (60s) each, or those of the package TARGET
	TARGET="$(TARGET)" ./scripts/fuzz.sh

.PHONY: generate
generate: $(if $(shell command -v node),web/node_modules/.package-lock.json) ## rewrite everything that is generated
	go generate ./...
	go test ./reaction -run TestTablesInDocs -update
	go test ./config -run TestPublished -update
	go test ./api/http -run TestDashboardKnowsTheAPI -update

.PHONY: man
man: ## write manual pages to dist/man
	go test ./cmd/coppice -ldflags '-X coppice/cmd/coppice.version=$(VERSION)' -run TestMan -man $(CURDIR)/dist/man

.PHONY: picture
picture: deps ## create the README's pictures again
	./scripts/picture.sh </dev/null

.PHONY: clean
clean: ## remove what was built
	rm -rf bin dist web/dist/assets web/dist/index.html web/dist/favicon.svg
