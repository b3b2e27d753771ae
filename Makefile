# SPDX-FileCopyrightText: 2026 AICR Runtime contributors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The two commands are `make demo` and `make test`; `make help` lists the rest.
# Each makes .venv first if it is missing or older than its lock, and needs nothing but a Python 3.12 or newer.

SHELL := /bin/sh
BIN := .venv/bin
SETUP := .venv/.made-with

# Tools started by path find their siblings, and Ansible finds this checkout before any installed aicr.runtime.
export PATH := $(CURDIR)/$(BIN):$(PATH)
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

.PHONY: clean
clean: ## remove everything that these commands made
	rm -rf .venv .venv-3.11 .cache artifacts dist tests/output .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
