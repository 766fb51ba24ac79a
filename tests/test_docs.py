"""The docs can't drift from the code."""

from __future__ import annotations

import json
import re

import click

from pipeline import cli
from pipeline.errors import RenderBookError
from pipeline.profile import Profile, read_profile
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_option_in_the_readme_exists():
    commands = [cli.render, *cli.COMMANDS.values(), *cli.voices.commands.values()]
    known = {option for command in commands for p in command.params for option in p.opts}
    known |= {option for command in commands for option in command.get_help_option_names(click.Context(command))}
    assert set(re.findall(r"(--[a-z-]+)", README)) <= known


def test_every_command_in_the_readme_exists():
    named = set(re.findall(r"^render-book ([a-z]+) ", README, re.MULTILINE))
    assert named == set(cli.COMMANDS) - {"voices"} or named == set(cli.COMMANDS)


def test_the_exit_codes_of_the_readme_are_those_of_the_errors():
    codes = {0} | {error.exit_code for error in all_errors(RenderBookError)}
    line = re.sub(r"\s+", " ", README[README.index("Exit codes:") :])
    line = line[: line.index("##")]
    assert {int(code) for code in re.findall(r"\b(\d+) [a-z]", line)} == codes


def all_errors(error: type[RenderBookError]) -> set[type[RenderBookError]]:
    return set().union(*(({child} | all_errors(child)) for child in error.__subclasses__()))


def test_the_plan_has_the_documented_form(command, small_book):
    plan = json.loads(command("plan", small_book, "--voice", "tone", "--json").out)
    documented = set(re.findall(r"`([a-z_.\[\]]+)`", (ROOT / "docs" / "plan.md").read_text(encoding="utf-8")))
    assert set(plan) == {name for name in documented if re.fullmatch(r"[a-z]+(_hours)?", name)} - {"plan"} | {
        "chapters", "left_out", "notes", "unused_words",
    }  # fmt: skip
    for key in plan["chapters"][0]:
        assert any(name.startswith(f"chapters[].{key}") for name in documented), key
    for key in plan["chapters"][0]["chunks"][0]:
        assert any(name.startswith(f"chapters[].chunks[].{key}") for name in documented), key


def test_the_default_profile_says_what_each_key_does_and_leaves_none_out():
    profile = read_profile(None)
    text = (ROOT / "configs" / "default.yaml").read_text(encoding="utf-8")
    for section in Profile.model_fields:
        assert re.search(rf"^{section}:", text, re.MULTILINE)
    assert profile.gaps_ms.model_dump() == {
        "clause": 120, "sentence": 250, "paragraph": 600, "heading": 900, "scene": 1500, "chapter": 2000,
    }  # fmt: skip


def test_every_shipped_profile_is_one():
    for path in (ROOT / "configs").glob("*.yaml"):
        if path.name != "cluster.yaml":  # Ray's, not ours: tests/test_cluster_docs.py
            read_profile(path)


def test_ci_runs_the_commands_of_the_readme():
    block = README[README.index("## Try it") : README.index("## Install")]
    assert re.findall(r"^make (\w+)", block, re.MULTILINE) == ["demo", "check", "test"]
