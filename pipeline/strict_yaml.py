"""YAML read strictly: strings only, the schema converts, and every fault comes with its line.

YAML's own guesses are never used: they make 1410 of `23:30`, False of `no`, and an octal of an ISBN.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from pipeline.errors import ConfigError

Model = TypeVar("Model", bound=BaseModel)
Tree = dict[str, Any]
Location = tuple[str | int, ...]
Lines = dict[Location, str]
"""Where each key of a tree stands, as `file:line`."""


class Strict(BaseModel):
    """A part of a YAML file whose unknown keys are faults."""

    model_config = {"extra": "forbid", "frozen": True, "allow_inf_nan": False}


def read_tree(path: Path) -> tuple[Tree, Lines, list[str]]:
    """A YAML mapping as strings, the lines of its keys, and its faults so far: keys that stand there twice.

    The caller adds its own faults and raises all at once. Raises `ConfigError` where there is no tree to be had.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file; check the path.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: can't be read as UTF-8 text ({error}); save it as UTF-8.") from None
    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
        _refuse_loops(root)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or "not YAML"
        raise ConfigError(f"{path}:{line}: {problem}; check the indentation and the quotes.") from None
    lines: Lines = {(): f"{path}:1"}
    if root is None:
        return {}, lines, []
    if not isinstance(root, yaml.MappingNode):
        raise ConfigError(f"{path}:1: must be a mapping of keys to values, such as `name: value`.")
    faults: list[str] = []
    return _plain(root, path, (), lines, faults), lines, faults


def merge(base: Tree, over: Tree) -> Tree:
    """`base` with what `over` says in its place, key by key."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def check(model: type[Model], tree: Tree, lines: Lines, faults: Sequence[str]) -> Model:
    """A tree as its schema's type, or a `ConfigError` with all faults at once, a line each."""
    found = [*faults]
    try:
        checked = model.model_validate(tree)
    except ValidationError as error:
        for fault in error.errors():
            location = tuple(fault["loc"])
            found.append(f"{_line(location, lines)}: {_name(location)}: {_say(model, location, fault)}")
    raise_faults(found)
    return checked


def raise_faults(faults: Sequence[str]) -> None:
    """All faults in the order of their lines, in one `ConfigError`; nothing where there is none."""
    if faults:
        raise ConfigError("\n".join(sorted(faults, key=lambda fault: int(re.findall(r":(\d+): ", fault)[0]))))


def _plain(node: yaml.Node, path: Path, location: Location, lines: Lines, faults: list[str]) -> Any:
    if isinstance(node, yaml.MappingNode):
        mapping: Tree = {}
        for key_node, value_node in node.value:
            line = f"{path}:{key_node.start_mark.line + 1}"
            if not isinstance(key_node, yaml.ScalarNode):
                faults.append(f"{line}: a key must be a word")
                continue
            key = str(key_node.value)
            here = (*location, key)
            if key in mapping:
                faults.append(f"{line}: {_name(here)}: stands here twice; remove one")
            lines[here] = line
            mapping[key] = _plain(value_node, path, here, lines, faults)
        return mapping
    if isinstance(node, yaml.SequenceNode):
        items = []
        for i, item in enumerate(node.value):
            lines[(*location, i)] = f"{path}:{item.start_mark.line + 1}"
            items.append(_plain(item, path, (*location, i), lines, faults))
        return items
    return node.value


def _refuse_loops(node: yaml.Node | None, above: tuple[yaml.Node, ...] = ()) -> None:
    """An alias may stand inside what it names: a tree without end."""
    if node is None or isinstance(node, yaml.ScalarNode):
        return
    if any(node is other for other in above):
        raise yaml.MarkedYAMLError(problem="an alias holds itself", problem_mark=node.start_mark)
    children = node.value if isinstance(node, yaml.SequenceNode) else [n for pair in node.value for n in pair]
    for child in children:
        _refuse_loops(child, (*above, node))


def _line(location: Location, lines: Lines) -> str:
    while location not in lines:
        location = location[:-1]
    return lines[location]


def _name(location: Location) -> str:
    name = ""
    for part in location:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else part
    return name


def _say(model: type[BaseModel], location: Location, fault: Mapping[str, Any]) -> str:
    if fault["type"] == "extra_forbidden":
        close = difflib.get_close_matches(str(location[-1]), _fields(model, location[:-1]), n=1)
        return "unknown key" + (f" (did you mean {close[0]}?)" if close else "")
    if fault["type"] == "missing":
        return "this key is missing"
    message = str(fault["msg"])
    said = f", not {fault['input']!r}" if isinstance(fault["input"], str) else ""
    return message[0].lower() + message[1:] + said


def _fields(model: type[BaseModel], location: Location) -> list[str]:
    """The keys that a schema knows at a place in it."""
    for part in location:
        field = model.model_fields.get(part) if isinstance(part, str) else None
        if field is None:
            continue
        candidates = [field.annotation, *get_args(field.annotation)]
        model = next((c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel)), model)
    return [*model.model_fields]
