# Each target does its own set-up in .venv. Needs Python 3.11 or newer, make, and a package index.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
STORY := examples/the-story.epub
MARKED := slow or ray or speech or package or pocket or codec

.PHONY: demo test check fuzz bench bench-pocket bench-scale bench-eos first-light wheel clean

demo: $(INSTALLED) $(STORY)  ## Render the example story with the embedded voice joe
	$(BIN)/render-book $(STORY) --voice joe

test: $(INSTALLED)  ## The other tests: kills, Ray, speech heard by Whisper, Pocket TTS; ten minutes
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup --durations=25 -m "$(MARKED)"

check: $(INSTALLED)  ## Lint, types and the fast tests: three minutes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -n 2 -m "not ($(MARKED))"

fuzz: $(INSTALLED)  ## 20,000 broken books and random texts: each is planned, or refused in a sentence; an hour
	$(BIN)/python -m tests.fuzz

bench: $(INSTALLED)  ## Text, mastering ten hours of audio, and joe on two workers against bare Piper
	$(BIN)/python benchmarks/bench_text.py
	env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(BIN)/python benchmarks/bench_master.py
	env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(BIN)/python benchmarks/bench_joe.py

bench-pocket: $(INSTALLED)  ## Pocket TTS with random weights: ours against pocket-tts and transformers, 20 minutes
	env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(BIN)/python benchmarks/bench_pocket.py

bench-scale: $(INSTALLED)  ## What one driver carries: 20,000 takes through two Ray workers, five minutes
	env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(BIN)/python benchmarks/bench_scale.py

bench-eos: $(INSTALLED)  ## When simulated utterances end, by the rank boost's figures: tables and plots of docs/eos.md
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[plots]'
	$(BIN)/python -m benchmarks.bench_eos --plots docs

first-light: $(INSTALLED) $(STORY)  ## Fetch the released English weights; hold ours against both libraries, and listen
	$(BIN)/python benchmarks/first_light.py $(STORY)

wheel: $(INSTALLED)  ## Build the wheel into dist/
	$(BIN)/python -m build --wheel

$(STORY): $(INSTALLED) examples/build_epub.py $(wildcard examples/story/*)
	$(BIN)/python examples/build_epub.py examples/story $@

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[offline,test]'
	touch $@

clean:
	rm -rf $(VENV) build dist $(STORY)
