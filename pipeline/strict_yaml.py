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
from yaml.reader import ReaderError

from pipeline.errors import ConfigError

Model = TypeVar("Model", bound=BaseModel)
Tree = dict[str, Any]
Location = tuple[str | int, ...]
Lines = dict[Location, str]
"""Where each key of a tree stands, as `file:line`."""


_MAX_DEPTH = 32
_YAML_FAULTS = (
    (r"but found another document", "a second document begins here, and a file holds one; remove the `---`"),
    (r"mapping values are not allowed", "a colon too many, or a wrong indentation; quote a value that holds a colon"),
    (r"found character '\\t'", "a tab stands here; indent with spaces"),
    (r"found character ('.*?') that cannot start", r"a value can't begin with \1; quote it"),
    (r"expected ',' or '(.)'", r"a comma or the closing \1 is missing before this"),
    (r"expected <block end>", "this doesn't go on with what stands above; check the indentation and the hyphens"),
    (r"(.*)", r"\1; check the indentation, the brackets and the quotes"),
)
"""What PyYAML finds, the first that fits, in words for a person."""
_FAULTS = {
    "missing": "this key is missing",
    "int_parsing": "must be a whole number such as 3",
    "int_type": "must be a whole number such as 3",
    "int_parsing_size": "must be a shorter number",
    "float_parsing": "must be a number such as 0.5",
    "float_type": "must be a number such as 0.5",
    "finite_number": "must be a finite number",
    "greater_than": "must be above {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be below {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "bool_parsing": "must be yes or no",
    "literal_error": "must be {expected}",
    "string_type": "must be one value",
    "tuple_type": "must be a list such as [a, b]",
    "too_short": "must not be empty",
    "dict_type": "must be keys and values, such as `name: value`",
    "model_type": "must be keys and values, such as `name: value`",
    "value_error": "{error}",
}
"""What pydantic finds, by its name for it, in words for a person."""


class Strict(BaseModel):
    """A part of a YAML file whose unknown keys are faults."""

    model_config = {"extra": "forbid", "frozen": True, "allow_inf_nan": False}


class _RefusedError(Exception):
    """What YAML allows and we don't: its line, and why."""


class _Loader(yaml.BaseLoader):
    """Refuses aliases, with which a short file makes an endless tree, and a depth that Python can't walk."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise _RefusedError(line, f"an alias (*{event.anchor}) isn't read; write it out, or quote the *")
        if self.depth == _MAX_DEPTH:
            raise _RefusedError(line, f"more than {_MAX_DEPTH} levels stand in each other; check the brackets")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def read_tree(path: Path) -> tuple[Tree, Lines, list[str]]:
    """A YAML mapping as strings, the lines of its keys, and its faults so far: keys that stand there twice.

    The caller adds its own faults and raises all at once. Raises `ConfigError` where there is no tree to be had.
    """
    root = _compose(path, _read_text(path))
    lines: Lines = {(): f"{path}:1"}
    if root is None:
        return {}, lines, []
    if not isinstance(root, yaml.MappingNode):
        line = root.start_mark.line + 1
        raise ConfigError(f"{path}:{line}: must be a mapping of keys to values, such as `name: value`.")
    faults: list[str] = []
    return _plain(root, path, (), lines, faults), lines, faults


def merge(base: Tree, over: Tree) -> Tree:
    """`base` with what `over` says in its place, key by key."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def check(model: type[Model], tree: Tree, lines: Lines, faults: Sequence[str], context: object | None = None) -> Model:
    """A tree as its schema's type, or a `ConfigError` with all faults at once, a line each.

    context: what the schema's own validators want to know.
    """
    found = [*faults]
    try:
        checked = model.model_validate(tree, context=context)
    except ValidationError as error:
        for fault in error.errors():
            if fault["type"] == "too_short" and fault["input"]:
                continue  # pydantic counts only what is right, and the rest is told
            stands = location = tuple(fault["loc"])
            while stands not in lines:
                stands = stands[:-1]
            name = _name(location if fault["type"] == "missing" else stands)
            found.append(f"{lines[stands]}: {name}: {_say(model, stands, fault)}")
    raise_faults(found)
    return checked


def raise_faults(faults: Sequence[str]) -> None:
    """All faults in the order of their lines, in one `ConfigError`; nothing where there is none."""
    if faults:
        raise ConfigError("\n".join(sorted(faults, key=lambda fault: int(re.findall(r":(\d+): ", fault)[0]))))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"There is no such file as {path}: check the path.") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text; save the file as UTF-8.") from None
    except OSError as error:
        raise ConfigError(f"{path} can't be read ({error.strerror or error}); check the path.") from None


def _compose(path: Path, text: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=_Loader)
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        problem = f"the character U+{ord(text[error.position]):04X} isn't allowed in YAML; remove it"
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        pattern, saying = next(fault for fault in _YAML_FAULTS if re.match(fault[0], str(error.problem)))
        problem = re.sub(pattern + ".*", saying, str(error.problem), count=1)
    except _RefusedError as error:
        line, problem = error.args
    except (ValueError, OverflowError):  # of an escape beyond the last character
        line, problem = 1, "this can't be read as YAML; check what stands after each backslash"
    raise ConfigError(f"{path}:{line}: {problem}.")


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


def _name(location: Location) -> str:
    """A key's place, such as `books[1].voice`."""
    name = ""
    for part in location:
        if isinstance(part, int):
            name += f"[{part}]"
        else:
            word = part if part and part.isprintable() else repr(part)
            name += f".{word}" if name else word
    return name


def _say(model: type[BaseModel], location: Location, fault: Mapping[str, Any]) -> str:
    if fault["type"] == "extra_forbidden":
        close = difflib.get_close_matches(str(location[-1]), _fields(model, location[:-1]), n=1)
        return "unknown key" + (f" (did you mean {close[0]}?)" if close else "")
    saying = _FAULTS.get(fault["type"])
    message = saying.format_map(fault.get("ctx", {})) if saying else str(fault["msg"])
    if fault["type"] != "value_error" and isinstance(fault["input"], str):
        message += f", not {fault['input']!r}" if fault["input"] else "; it is empty"
    return message


def _fields(model: type[BaseModel], location: Location) -> list[str]:
    """The keys that a schema knows at a place in it."""
    for part in location:
        field = model.model_fields.get(part) if isinstance(part, str) else None
        if field is None:
            continue
        candidates = [field.annotation, *get_args(field.annotation)]
        model = next((c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel)), model)
    return [*model.model_fields]
