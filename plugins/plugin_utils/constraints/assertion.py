# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Assertions about the objects of a cluster: the ``assert`` and ``error`` of a Chainsaw Test, and nothing else of it.

A health check only looks. What would run something, change something, or mean something else in a cluster that is no
test's (scripts, ``apply``, templates, bindings of the test, other clusters) is refused by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import yamlio
from ..artifacts.codec import type_name
from ..errors import MAX_SHOWN, AicrError, invalid, raise_all
from .assertion_tree import Map, Mismatch, Tree, mismatches, shown, tree_of
from .query_functions import Unevaluable

API_VERSION, KIND = "chainsaw.kyverno.io/v1alpha1", "Test"
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}

_LITERAL = re.compile(r"[^()~\\$]*")
"""What Chainsaw takes as it is where it also takes templates."""

_TEST = ("apiVersion", "kind", "metadata", "spec")
_METADATA = ("name", "labels", "annotations")
_SPEC = ("description", "timeouts", "steps")
_STEP = ("name", "description", "timeouts", "try")
_OPERATION = ("description", "assert", "error")
_ASSERTION = ("resource", "timeout")
_TIMEOUTS = ("assert", "error")

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Selection:
    """Which objects are meant.

    :ivar name: the one of this name; without one all of the kind, in the namespace, with the labels.
    """

    api_version: str
    kind: str
    name: str | None = None
    namespace: str | None = None
    labels: tuple[tuple[str, str], ...] = ()

    def selects(self, found: Object) -> bool:
        """Whether an object of this kind is meant. A name says it all: labels are then a matter of the tree."""
        metadata = found["metadata"]
        if self.namespace is not None and metadata.get("namespace") != self.namespace:
            return False
        if self.name is not None:
            return bool(metadata["name"] == self.name)
        labels = metadata.get("labels") or {}
        return all(labels.get(key) == value for key, value in self.labels)

    def __str__(self) -> str:
        named = self.name or ",".join("=".join(label) for label in self.labels) or "(any)"
        return f"{self.kind} {self.namespace}/{named}" if self.namespace else f"{self.kind} {named}"


@dataclass(frozen=True)
class Trouble:
    """Why an assertion does not hold.

    :ivar of: the object, as ``Kind namespace/name``.
    :ivar path: where in it; empty for the object as a whole.
    :ivar expected: what is due, in words.
    :ivar actual: what is there, in words.
    """

    of: str
    path: str
    expected: str
    actual: str

    def __str__(self) -> str:
        where = f"{self.of}: {self.path}" if self.path else self.of
        return f"{where}: expected {self.expected}, found {self.actual}"


@dataclass(frozen=True)
class Judgement:
    """What an assertion says of one object.

    :ivar troubles: why the object keeps it from holding; none if it does not.
    :ivar final: whether it could not be evaluated, after which Chainsaw looks at no further object.
    """

    troubles: tuple[Trouble, ...]
    final: bool = False


@dataclass(frozen=True)
class Assertion:
    """One ``assert`` (some object is as the tree says) or ``error`` (none is).

    :ivar step: the name of the step that it stands in.
    """

    selection: Selection
    tree: Tree
    refutes: bool = False
    step: str = ""

    def troubles(self, objects: Iterable[Object]) -> list[Trouble]:
        """Why it does not hold of all objects of the kind; empty if it does.

        :param objects: in the order of the API, which is that of their names.
        """
        return self.conclude(self.judge(found) for found in objects if self.selection.selects(found))

    def judge(self, found: Object) -> Judgement:
        """What it says of one object that is meant."""
        name = called(found, self.selection)
        try:
            differences = mismatches(self.tree, found)
        except Unevaluable as error:
            return Judgement((Trouble(name, "", "what can be evaluated", str(error)),), final=True)
        if not self.refutes:
            return Judgement(tuple(_told(name, difference) for difference in differences))
        stated = self._stated
        matched = Trouble(name, "", f"not {stated}", "that") if stated else Trouble(name, "", "none", "one")
        return Judgement(() if differences else (matched,))

    def conclude(self, judgements: Iterable[Judgement]) -> list[Trouble]:
        """Why it does not hold, from what it says of every object that is meant."""
        found: list[Trouble] = []
        none = True
        for judgement in judgements:
            none = False
            if judgement.final:
                return list(judgement.troubles)
            if not judgement.troubles and not self.refutes:
                return []
            found += judgement.troubles
        return [Trouble(str(self.selection), "", "to exist", "none")] if none and not self.refutes else found

    @property
    def _stated(self) -> str:
        """What the tree says beside which objects it is about."""
        if not isinstance(self.tree, Map):
            return str(shown(self.tree))
        about = [entry for entry in self.tree.entries if entry.key not in ("apiVersion", "kind", "metadata")]
        return str(shown(Map(tuple(about)))) if about else ""


@dataclass(frozen=True)
class Check:
    """A health check.

    :ivar seconds: how long its assertions may take to hold; ``None`` if it does not say.
    """

    name: str
    assertions: tuple[Assertion, ...]
    seconds: float | None


def check_of(text: str, source: str) -> Check:
    """The health check in a recipe (``healthCheckAsserts``).

    :param source: what to call it in messages.
    :raises AicrError: INVALID_REQUEST with everything that is wrong with it.
    """
    document = yamlio.load(text, source)
    reader = _Decoder(source)
    check = reader.check(document)
    raise_all(reader.problems)
    return check


def called(found: Object, selection: Selection) -> str:
    """What to call an object in messages."""
    metadata = found["metadata"]
    namespace = metadata.get("namespace")
    return f"{selection.kind} {namespace}/{metadata['name']}" if namespace else f"{selection.kind} {metadata['name']}"


def in_words(value: object) -> str:
    """A value as a message shows it: on one line, and of a long one the beginning."""
    if value is None:
        return "nothing"
    text = " ".join((value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).split())
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def _told(name: str, difference: Mismatch) -> Trouble:
    actual = "nothing" if difference.absent else in_words(difference.actual)
    return Trouble(name, difference.path, in_words(difference.expected), actual)


class _Decoder:
    """Reads a Test; every problem is noted, with its path."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.problems: list[AicrError] = []

    def check(self, document: object) -> Check:
        """The check in a document."""
        test = self._mapping(document, "", _TEST)
        if test.get("apiVersion") != API_VERSION or test.get("kind") != KIND:
            self._refuse("", f"is no {KIND} of {API_VERSION}", "write a Chainsaw Test")
            return Check("", (), None)
        metadata = self._mapping(test.get("metadata"), "metadata", _METADATA)
        spec = self._mapping(test.get("spec"), "spec", _SPEC)
        seconds = [self._seconds(spec.get("timeouts"), "spec.timeouts")]
        assertions: list[Assertion] = []
        steps = self._list(spec.get("steps"), "spec.steps")
        for index, item in enumerate(steps):
            path = f"spec.steps[{index}]"
            step = self._mapping(item, path, _STEP)
            seconds.append(self._seconds(step.get("timeouts"), f"{path}.timeouts"))
            for number, operation in enumerate(self._list(step.get("try"), f"{path}.try")):
                place = f"{path}.try[{number}]"
                name = str(step.get("name") or f"step {index + 1}")
                for kind, content in self._mapping(operation, place, _OPERATION).items():
                    if kind in ("assert", "error"):
                        inner = self._mapping(content, f"{place}.{kind}", _ASSERTION)
                        seconds.append(self._duration(inner.get("timeout"), f"{place}.{kind}.timeout"))
                        found = self._assertion(inner.get("resource"), f"{place}.{kind}.resource", kind, name)
                        assertions += [found] if found else []
        if steps and not assertions and not self.problems:
            self._refuse("spec.steps", "asserts nothing, so that it would hold of an empty cluster", "add an assert")
        said = [one for one in seconds if one is not None]
        return Check(str(metadata.get("name", "")), tuple(assertions), max(said, default=None))

    def _assertion(self, resource: object, path: str, kind: str, step: str) -> Assertion | None:
        if not isinstance(resource, dict):
            self._refuse(path, f"is {type_name(resource)}, not an object", "name apiVersion, kind and metadata")
            return None
        metadata = resource.get("metadata")
        if not isinstance(metadata, dict):
            self._refuse(f"{path}.metadata", "is missing", "name the object, or its namespace")
            return None
        labels = metadata.get("labels") or {}
        named = {
            "apiVersion": resource.get("apiVersion"),
            "kind": resource.get("kind"),
            "metadata.name": metadata.get("name"),
            "metadata.namespace": metadata.get("namespace"),
            **({f"metadata.labels.{key}": value for key, value in labels.items()} if isinstance(labels, dict) else {}),
        }
        wrong = False
        for field, value in named.items():
            if value is None and field in ("metadata.name", "metadata.namespace"):
                continue
            unnamed = not value and not field.startswith("metadata.labels.")
            if not isinstance(value, str) or unnamed or not _LITERAL.fullmatch(value):
                self._refuse(f"{path}.{field}", f"is {in_words(value)}, where a literal text is due", "name it")
                wrong = True
        if not isinstance(labels, dict):
            self._refuse(f"{path}.metadata.labels", f"is {type_name(labels)}, not a mapping", "")
            wrong = True
        if wrong:
            return None
        try:
            tree = tree_of(resource)
        except AicrError as error:
            self._refuse(path, error.message, error.hint)
            return None
        selection = Selection(
            named["apiVersion"],
            named["kind"],
            metadata.get("name"),
            metadata.get("namespace"),
            tuple(sorted(labels.items())),
        )
        return Assertion(selection, tree, kind == "error", step)

    def _mapping(self, value: object, path: str, known: Sequence[str]) -> dict[str, Any]:
        """The mapping at a path, without keys that are not known."""
        if not isinstance(value, dict):
            self._refuse(path, f"is {type_name(value)}, not a mapping", "")
            return {}
        for key in value.keys() - set(known):
            hint = f"a health check knows {', '.join(known)} here, and only looks"
            self._refuse(f"{path}.{key}" if path else str(key), "is not supported", hint)
        return {key: item for key, item in value.items() if key in known}

    def _list(self, value: object, path: str) -> list[Any]:
        if not isinstance(value, list):
            self._refuse(path, f"is {type_name(value)}, not a list", "")
            return []
        return value

    def _seconds(self, value: object, path: str) -> float | None:
        """The longest of some timeouts."""
        if value is None:
            return None
        named = self._mapping(value, path, _TIMEOUTS)
        found = [self._duration(named[name], f"{path}.{name}") for name in named]
        return max((one for one in found if one is not None), default=None)

    def _duration(self, value: object, path: str) -> float | None:
        """A duration of Go in seconds."""
        if value is None:
            return None
        parts = _DURATION.findall(value) if isinstance(value, str) else []
        if not parts or "".join(map("".join, parts)) != value:
            self._refuse(path, f"is {in_words(value)}, which is no duration", "write it as 5m, 90s or 1h30m")
            return None
        return sum(float(number) * _UNITS[unit] for number, unit in parts)

    def _refuse(self, path: str, why: str, hint: str) -> None:
        where = f"{self.source}: {path}" if path else self.source
        self.problems.append(invalid(f"{where} {why}" if path else f"{where}: {why}", hint))
