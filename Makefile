# SPDX-FileCopyrightText: 2026 AICR Runtime contributors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The two commands are `make demo` and `make test`; `make help` lists the rest.
# Each makes .venv first if it is missing or older than its lock, and needs nothing but a Python 3.12 or newer.

SHELL := /bin/sh
SETUP := .venv/.made-with

# What is started here starts its siblings by name, and Ansible finds this checkout before any installed aicr.runtime.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export ANSIBLE_COLLECTIONS_PATH := $(CURDIR)/.venv/collections

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9.-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

## ---- the environment

.PHONY: setup
setup: $(SETUP) ## make .venv (every other target does so by itself)

# Another PYTHON than the one .venv was made with: make it anew.
ifneq ($(PYTHON),)
ifneq ($(PYTHON),$(shell cat $(SETUP) 2>/dev/null))
.PHONY: $(SETUP)
endif
endif

$(SETUP): requirements/dev.lock requirements/uv.lock tools/setup
	@python=$$(tools/find-python $(PYTHON)) && \
	tools/setup "$$python" .venv requirements/dev.lock && \
	echo "$${PYTHON:-$$python}" > $@

## ---- the two commands

.PHONY: demo
demo: $(SETUP) ## take the sample clusters and this machine from snapshot to bundle, into artifacts/
	ansible-playbook aicr.runtime.site -i examples/inventory

TEST := lint unit unit-3.11 integration conformance sanity

.PHONY: test
test: $(TEST) ## lint and every test that needs no cluster

.PHONY: parts-of-test
parts-of-test:
	@echo $(TEST)

## ---- the parts of `make test`

PYTEST := python -m pytest -n auto

LINT := lint-style lint-types lint-floors lint-yaml lint-ansible lint-licences lint-changelog docs-lint

.PHONY: lint $(LINT)
lint: $(LINT) ## everything that reads the code without running it: style, types, floors, licences, ...
$(LINT): $(SETUP)

lint-style:
	ruff check .
	ruff format --check .

lint-types:
	mypy

lint-floors:
	lint-imports --no-logo

lint-yaml:
	yamllint --strict .

lint-ansible:
	ansible-lint -q

lint-licences:
	reuse lint --lines

lint-changelog:
	antsibull-changelog lint

docs-lint: ## the documentation of plugins and roles
	antsibull-docs lint-collection-docs --plugin-docs .

.PHONY: catalog-page
catalog-page: $(SETUP) ## write what recipes/ holds into docs/catalog.md
	python tools/catalog_page.py

.PHONY: schemas
schemas: $(SETUP) ## write the JSON Schemas of all documents into docs/schemas
	python tools/schemas.py

BED := python -m ansible_collections.aicr.runtime.tests.cluster.bed
# Catalogs in the reference's format are rendered by a helm: the test bed's pinned one, fetched once into the cache.
WITH_HELM = tools=$$($(BED) tools) && PATH="$$tools:$$PATH"

.PHONY: unit
unit: $(SETUP) ## tests of the engine alone
	@$(WITH_HELM) $(PYTEST) tests/unit

# The oldest controller that meta/runtime.yml promises.
PYENV_ROOT ?= $(HOME)/.pyenv
FIND_3.11 = PATH="$$PATH:$$(echo $(PYENV_ROOT)/versions/3.11.*/bin)" \
    .cache/uv/bin/uv python find --no-project --no-python-downloads --system 3.11 2>/dev/null

.PHONY: unit-3.11
unit-3.11: $(SETUP) ## the same on Python 3.11 with ansible-core 2.18, the oldest that we promise
	@if python=$$($(FIND_3.11)); then \
	    $(MAKE) --no-print-directory .venv-3.11/.made-with PYTHON_3.11="$$python" && \
	    .venv-3.11/bin/$(PYTEST) tests/unit; \
	else \
	    echo "NOT RUN: the unit tests on Python 3.11, because there is no Python 3.11 here" >&2; \
	    test -z "$$CI"; \
	fi

.venv-3.11/.made-with: requirements/py311.lock requirements/uv.lock tools/setup
	@tools/setup "$(PYTHON_3.11)" .venv-3.11 requirements/py311.lock
	@echo "$(PYTHON_3.11)" > $@

.PHONY: integration
integration: $(SETUP) ## plugins and playbooks as a user runs them
	$(PYTEST) tests/integration

.PHONY: sanity
sanity: $(SETUP) ## ansible-test sanity over the working tree
	python tools/sanity.py

# Recorded answers of the reference implementation, where a developer has them.
SHARED := $(or $(AICR_SHARED),../shared)
CONFORMANCE := --deployers helm,argocd --without mirror,cli,later

.PHONY: conformance
conformance: $(SETUP) ## our answers against the recorded ones
	@if [ -d "$(SHARED)/golden" ]; then \
	    $(WITH_HELM) python "$(SHARED)/tools/conform.py" --golden "$(SHARED)/golden" --catalog "$(SHARED)/catalog/aicr-2026-08-19" \
	        --answer "python tests/conformance/answer.py" --deviations tests/conformance/deviations.yml $(CONFORMANCE); \
	else \
	    echo "NOT RUN: conformance, because there are no recordings at $(SHARED)" >&2; \
	fi

## ---- the test bed (docs/testing.md)

CLUSTER ?= eks-h100

.PHONY: cluster
cluster: $(SETUP) ## bring up the test cluster CLUSTER (eks-h100, gke-h100, mixed, kind) on loopback
	$(BED) start $(CLUSTER)

CLUSTER_TESTS ?= tests/cluster
# Files side by side, for tests mostly wait; those of a file are in order. Another cluster is asked for one thing at a time.
FILES_AT_ONCE := $(if $(AICR_TEST_KUBECONFIG),0,2)

.PHONY: test-cluster
test-cluster: $(SETUP) ## tests on the cluster that is up, or on one of their own, or on that of AICR_TEST_KUBECONFIG
	python -m pytest $(CLUSTER_TESTS) -n $(FILES_AT_ONCE) --dist loadfile --no-loadscope-reorder --durations=0 --durations-min=1

.PHONY: molecule
molecule: $(SETUP) ## the scenarios of extensions/molecule, one for each role, on a cluster of their own
	python -m pytest tests/cluster/test_molecule.py --durations=0 --durations-min=1

.PHONY: cluster-stop
cluster-stop: $(SETUP) ## stop what `make cluster` brought up
	$(BED) stop

.PHONY: examples
examples: $(SETUP) ## take the snapshots in examples/ anew, each of a test cluster of its own
	python -m ansible_collections.aicr.runtime.tests.cluster.examples

## ---- more

.PHONY: bench
bench: $(SETUP) ## speed and memory, as ratios within one run
	python tests/benchmarks/bench.py

.PHONY: bench-fleet
bench-fleet: $(SETUP) ## time and memory of 200 and 1,000 clusters in one play; takes half an hour
	python tests/benchmarks/fleet.py

.PHONY: bench-deploy
bench-deploy: $(SETUP) ## the time of a deployment by the clock, on a machine that nobody else uses
	python tests/benchmarks/deploy_time.py

.PHONY: soak
soak: $(SETUP) ## the property tests, with many times the examples
	$(PYTEST) tests/unit tests/soak --hypothesis-profile=soak

.PHONY: seeded-faults
seeded-faults: $(SETUP) ## put faults into a copy, each of which must fail its test; FAULTS="takes lets" chooses by name
	python tests/seeded_faults.py $(FAULTS)

.PHONY: dist
dist: $(SETUP) ## the collection's tarball, from HEAD, into dist/
	python tools/dist.py

.PHONY: lock
lock: $(SETUP) ## choose newer packages within requirements/*.in and write the locks
	tools/lock

.PHONY: clean
clean: ## stop the test beds and remove everything that these commands made
	if [ -d .cache/cluster ]; then $(MAKE) --no-print-directory cluster-stop; fi
	rm -rf .venv .venv-3.11 .cache artifacts dist tests/output .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
