# `make run` and `make test` do all the set-up. Everything is installed into .venv and web/node_modules, without
# root; later starts skip the set-up.

PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000

VENV := .venv
BIN := $(VENV)/bin
INSTALL = scripts/step "install the Python packages" "pip config list" \
	$(BIN)/python -m pip --disable-pip-version-check install -q
NODE := $(shell node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' 2>/dev/null && echo yes)
WEB_SOURCES := $(shell find web -path web/node_modules -prune -o -path web/dist -prune -o -type f -print 2>/dev/null)
NEED_PYTHON = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	echo "Dovetail needs Python 3.11 or newer; $(PYTHON) is missing or older. Try: PYTHON=python3.12 make …"; exit 1; }
BENCHMARKS := $(patsubst benchmarks/%/__main__.py,%,$(wildcard benchmarks/*/__main__.py))

# A test starts hundreds of programs, which would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test test-often coverage soak conformance resume fix settings-page reference docs docs-serve bench eval bfcl reality plain wheel package-check web-package clean lint types unit web-test

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'
	@echo
	@echo "  PORT=8001 make run      another port          MODEL=ollama:qwen3 make run   another model"
	@echo "  BENCH=prompt make bench only one benchmark    PYTHON=python3.12 …    another Python"
	@echo "  RUNS=3 BUSY=4 make test-often  next to busy processes; SEED=7 repeats an order, TIMES=50 TESTS=tests/runs one part"
	@echo "  WEB=1 RUNS=3 TESTS=long-chat make test-often  the tests in a browser, or some files of them"
	@echo "  SOAK='--minutes 4 --engine dbos --seed 7' make soak  one engine, the same jobs and faults"
	@echo "  CASES=500 SEED=7 make conformance  fewer cases, another seed"
	@echo "  ENGINE=sqlite FAULT=sigkill POINT=child make resume  only some cells"
	@echo "  PYTHONS='3.12 3.14' make package-check  only these Pythons, which uv finds or downloads"
	@echo "  REALITY='--only tour' make reality  only some questions"
	@echo "  BFCL='--size 5 --ways native' make bfcl  fewer questions, one way"

run: $(VENV)/.run page ## serve the chat and its web page with the embedded model
	@exec env $(if $(MODEL),DOVETAIL_MODEL=$(if $(findstring :,$(MODEL)),,local:)$(MODEL)) \
		$(BIN)/dovetail serve --watch --host $(HOST) --port $(PORT)

test: need-node lint types unit docs web-test ## everything a change must pass
	@echo "All checks passed."

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev need-node
	$(BIN)/pyright

unit: $(VENV)/.dev need-node web/dist/index.html .conformance/.installed
	$(BIN)/dovetail models pull small
	$(if $(filter true,$(CI)),$(BIN)/dovetail models pull good)
	$(BIN)/pytest -n 3 --dist loadfile --ignore tests/reality
	$(BIN)/pytest -n 0 tests/reality

coverage: $(VENV)/.dev need-node web/dist/index.html .conformance/.installed ## run the Python tests and check how much of the code they run
	$(BIN)/pytest -n 3 --dist loadfile --cov --cov-report=term:skip-covered

web-test: $(VENV)/.dev need-node web/dist/index.html docs
	cd web && npm run --silent check && npm run --silent test && npm run --silent test:browser

test-often: $(VENV)/.dev need-node web/dist/index.html .conformance/.installed $(if $(WEB),docs) ## run the Python tests, or with WEB=1 those in a browser, many times in random order and list what failed
	$(BIN)/dovetail models pull small
	@$(BIN)/python scripts/often.py --runs $(or $(RUNS),10) --busy $(or $(BUSY),0) --times $(or $(TIMES),1) \
		$(if $(SEED),--seed $(SEED)) $(if $(WEB),--web) $(TESTS)

soak: $(VENV)/.dev ## let machines fail at random under people who use everything, 15 minutes on four engines
	@PYTHONPATH=src:tests $(BIN)/python -m soak $(SOAK)

CONFORMANCE = PYTHONHASHSEED=0 PYTHONPATH=src:tests $(BIN)/python -m conformance --oracle .conformance/bin/python

conformance: $(VENV)/.dev .conformance/.installed ## compare prompts with the package that specifies them
	@$(if $(EXECUTABLE_SPEC),PYTHONPATH=src:tests $(BIN)/pytest -q -c pyproject.toml -p conformance.shim "$(EXECUTABLE_SPEC)")
	@$(CONFORMANCE) --cases $(or $(CASES),20000) --seed $(or $(SEED),1)

.conformance/.installed:
	$(PYTHON) -m venv .conformance
	scripts/step "install the original package" "pip config list" \
		.conformance/bin/python -m pip --disable-pip-version-check install -q agently==4.0.7.1 \
		$(shell grep -iE '^(pydantic|pyyaml)==' constraints.txt)
	@touch $@

resume: $(VENV)/.dev .resume-peers/.installed ## let machines fail at every point of a run and check what is left
	@PYTHONPATH=src:tests $(BIN)/python -m resume --engine "$(ENGINE)" --fault "$(FAULT)" --point "$(POINT)" \
		--peers .resume-peers/bin/python --results .resume-peers/results.json --page docs/resume-matrix.md

.resume-peers/.installed:
	$(PYTHON) -m venv .resume-peers
	scripts/step "install the other runtimes" "pip config list" \
		.resume-peers/bin/python -m pip --disable-pip-version-check install -q langgraph==1.2.20 \
		langgraph-checkpoint-sqlite==3.1.2 langchain-openai==1.7.3 "pydantic-ai-slim[dbos,openai]==2.66.0" \
		dbos==3.3.0 openai-agents==0.24.0
	@touch $@

fix: $(VENV)/.dev ## format, and fix lint errors where possible
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(if $(NODE),cd web && npm run --silent fix)

settings-page: $(VENV)/.dev ## write docs/settings.md from the sections of the settings
	$(BIN)/python -c 'from dovetail.settings.describe import write_page; print(write_page(), end="")' > docs/settings.md

DOCUMENTATION = PYTHONPATH=src:scripts $(BIN)/python -m documentation

reference: settings-page ## write docs/reference and docs/settings.md from the code
	@$(DOCUMENTATION) reference

docs: $(VENV)/.dev ## build the documentation site into build/site
	@$(DOCUMENTATION) build

docs-serve: $(VENV)/.dev ## serve the documentation site and build it again when a page changes
	@$(DOCUMENTATION) serve $(or $(DOCS_PORT),8001)

bench: $(VENV)/.dev ## measure Dovetail and its peers side by side
	@set -e; for name in $(or $(BENCH),$(BENCHMARKS)); do echo "== $$name"; $(BIN)/python -m benchmarks.$$name; done

eval: $(VENV)/.dev ## ask the good embedded model real questions
	$(BIN)/dovetail models pull good
	@set -e; for file in evals/*.py; do case $$file in */__init__.py|*/questions.py|*/digest.py|*/bfcl*.py) ;; *) \
		name=$$(basename $$file .py); echo "== $$name"; $(BIN)/python -m evals.$$name;; esac; done

reality: $(VENV)/.dev ## ask the good embedded model what newcomers are shown, and write docs/reality.md
	$(BIN)/dovetail models pull good
	@$(BIN)/python -m evals.reality $(REALITY)

plain: $(VENV)/.dev ## ask the good embedded model 100 plain questions in three ways, and write docs/reality.md
	$(BIN)/dovetail models pull good
	@$(BIN)/python -m evals.plain $(PLAIN)

bfcl: $(VENV)/.dev .bfcl/.installed ## ask questions of the function calling leaderboard; a stopped run continues
	$(BIN)/dovetail models pull good
	$(BIN)/python -m evals.bfcl $(or $(BFCL),--docs)

# Without their dependencies: those of the leaderboard are the packages of all models that it knows.
.bfcl/.installed: | $(VENV)/.dev
	scripts/step "install the leaderboard" "pip config list" \
		$(BIN)/python -m pip --disable-pip-version-check install -q --no-deps --target .bfcl --upgrade \
		bfcl-eval==2026.3.23 tree-sitter==0.21.3 tree-sitter-java==0.21.0 tree-sitter-javascript==0.21.4 \
		pydantic-ai-slim==2.66.0 pydantic-graph==2.66.0 griffe==2.4.1 griffelib==2.4.1 logfire-api
	@touch $@

wheel: .build/.installed page ## build wheel and source package, including the web page, into dist/
	@echo "Building the wheel …"
	@rm -f dist/*.whl dist/*.tar.gz
	@scripts/step "build the wheel" "pip config list" .build/bin/python -m hatchling build -d dist
	@echo "Built $$(ls dist/*.whl). In the environment that should have it:"
	@echo "  pip install \"\$$(ls dist/*.whl)[all]\""

# Only what builds: the packages that Dovetail needs are installed with the wheel, where it is used.
.build/.installed: pyproject.toml constraints.txt
	@$(NEED_PYTHON)
	@echo "Installing the build tool …"
	@scripts/step "create .build" "pip config list" $(PYTHON) -m venv --clear .build
	@scripts/step "install the build tool" "pip config list" \
		.build/bin/python -m pip --disable-pip-version-check install -q -c constraints.txt hatchling
	@touch $@

package-check: $(VENV)/.dev wheel ## try the built package in fresh environments, with the newest and the lowest versions
	$(BIN)/dovetail models pull small
	$(BIN)/python scripts/package_check.py dist $(PYTHONS)

web-package: need-node web/node_modules/.installed ## build the npm package @dovetail/react into dist/
	@node web/scripts/build-package.mjs dist

clean: ## remove build results and installed packages; downloaded models stay in the user's cache
	rm -rf $(VENV) .bench .build .bfcl .conformance .resume-peers .coverage .hypothesis .pytest_cache .ruff_cache build dist web/node_modules web/dist

.PHONY: page need-node
page:
ifeq ($(NODE),yes)
page: web/dist/index.html
else
	@echo "Node 20 or newer is not installed: a plain page takes the place of the web client."
endif

need-node:
	@test "$(NODE)" = yes || { echo "The type checks and the web checks need Node 20 or newer; 'node' is missing or older."; exit 1; }

$(BIN)/pip:
	@$(NEED_PYTHON)
	@echo "Creating $(VENV) …"
	@scripts/step "create $(VENV)" "pip config list" \
		$(PYTHON) -m venv --clear $(VENV)

# The build back end comes first, so that the project itself is installed without downloading it again.
$(VENV)/.run: pyproject.toml constraints.txt | $(BIN)/pip
	@echo "Installing the Python packages …"
	@$(INSTALL) -c constraints.txt --upgrade pip hatchling editables
	@$(INSTALL) -c constraints.txt --no-build-isolation -e '.[all]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/pip
	@echo "Installing the Python packages for development …"
	@$(INSTALL) -c constraints.txt --upgrade pip hatchling editables
	@$(INSTALL) -c constraints.txt --no-build-isolation -e '.[dev]'
	@touch $@ $(VENV)/.run

# `npm ci` deletes what the folder contains, and a link leads to the packages of another checkout.
web/node_modules/.installed: web/package.json web/package-lock.json
	@test ! -L web/node_modules || { echo "web/node_modules is a link to another checkout: install the packages there."; exit 1; }
	@echo "Installing the web packages …"
	@scripts/step "install the web packages" "npm config get registry" \
		npm ci --prefix web --no-audit --no-fund --loglevel=error
	@touch $@

web/dist/index.html: web/node_modules/.installed $(WEB_SOURCES)
	@echo "Building the web client …"
	@scripts/step "build the web client" "npm config get registry" \
		npm run --prefix web --silent build -- --logLevel warn
	@touch $@
