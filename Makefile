# The commands of the README and their parts; every one sets up what it needs.
SHELL := bash
VENV ?= .venv
export VENV
PACKAGE := demo_game/terrain.webinfer
HEADLESS ?=

.PHONY: demo test conformance setup lint lock clean

# Exports the terrain model and serves the game that runs it; HEADLESS=1 writes demo.png instead and exits.
demo: setup
	bash .ci/demo $(PACKAGE) $(if $(filter-out 0,$(HEADLESS)),demo.png)

test: setup
	bash .ci/checks

# ONNX's backend tests on every device: all on Dawn, a spread of 200 on each browser.
conformance: setup
	$(VENV)/bin/python -m tests.conformance

setup:
	@bash .ci/setup

lint: setup
	bash .ci/lint

# Resolves pyproject.toml into requirements.lock again; needs uv.
lock:
	uv pip compile pyproject.toml --extra browsers --group dev --universal --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-annotate --no-header --quiet --output-file requirements.lock

clean:
	rm -rf $(VENV) js_runtime/node_modules js_runtime/dist demo_game/node_modules demo_game/dist $(PACKAGE) demo.png
