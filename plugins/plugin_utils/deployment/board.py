# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of a cluster's objects, and which expectations hold of them since when.

Each change is judged when it comes in, so that a state which is right for a moment only never counts: the real
operators change their Ready condition many times a second (spec/operators.md 1.1, 1.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..cluster.watch import Blind, Changed, Event, Failed, Listed, Target, Unserved
from ..constraints.assertion import Judgement, Selection, Trouble
from ..constraints.assertion_tree import fields_of
from ..errors import AicrError
from .expectations import Expectation, Expected

Object = Mapping[str, Any]

LATELY_SECONDS = 10.0

_ONE_BY_ONE = ("CustomResourceDefinition", "Secret")
"""Kinds of which never more is read than what is named: they are large, or nobody's business."""
_ROLLOUT_FIELDS = frozenset(("spec", "status"))


class Aim:
    """One expectation of a component, with what it says of each object.

    :ivar troubles: why it does not hold; ``None`` as long as nothing is known.
    :ivar before: why it did not hold when it last did not.
    :ivar changes: how often it held and then held no longer.
    """

    def __init__(self, expectation: Expectation, target: Target) -> None:
        self.expectation, self.target = expectation, target
        self.troubles: list[Trouble] | None = None
        self.before: list[Trouble] = []
        self.changes = 0
        self._good: set[str] = set()
        self._bad: dict[str, Judgement] = {}

    @property
    def holds(self) -> bool:
        """Whether it is known to hold."""
        return self.troubles is not None and not self.troubles

    def take(self, objects: Mapping[str, Object]) -> None:
        """Judge all objects of the target anew."""
        self._good, self._bad = set(), {}
        for key, found in objects.items():
            self._judge(key, found)
        self._conclude()

    def change(self, key: str, found: Object | None) -> None:
        """Judge one object anew."""
        self._good.discard(key)
        self._bad.pop(key, None)
        if found is not None:
            self._judge(key, found)
        self._conclude()

    def offenders(self) -> list[str]:
        """The objects that it does not hold of, by their keys; all of them, if it holds for a moment only."""
        return sorted(self._good | self._bad.keys() if self.holds else self._bad)

    def _judge(self, key: str, found: Object) -> None:
        if self.expectation.selection.selects(found):
            judgement = self.expectation.judge(found)
            if judgement.troubles:
                self._bad[key] = judgement
            else:
                self._good.add(key)

    def _conclude(self) -> None:
        held = self.holds
        self.troubles = self._verdict()
        if self.troubles:
            self.before = self.troubles
            self.changes += held

    def _verdict(self) -> list[Trouble]:
        """What :meth:`Expectation.conclude` says of all objects; one that is good is enough, unless the API has one
        before it that cannot be evaluated."""
        if self._good and not self.expectation.forbids:
            final = min((key for key, judgement in self._bad.items() if judgement.final), default=None)
            return [] if final is None or min(self._good) < final else list(self._bad[final].troubles)
        return self.expectation.conclude(self._bad[key] for key in sorted(self._bad))


class Component:
    """What is expected of one component, and since when all of it holds."""

    def __init__(self, expected: Expected, aims: Sequence[Aim]) -> None:
        self.name, self.seconds, self.aims = expected.component, expected.seconds, aims
        self.since: float | None = None

    @property
    def open(self) -> list[Aim]:
        """What does not hold, or is not known to."""
        return [aim for aim in self.aims if not aim.holds]

    def settle(self, now: float, anew: bool) -> None:
        """Note since when all of it holds; ``anew`` if it may not have in between."""
        if self.open:
            self.since = None
        elif self.since is None or anew:
            self.since = now


class Board:
    """All components, and the objects that they are about."""

    def __init__(self, expected: Iterable[Expected]) -> None:
        chosen = list(expected)
        place = targets_of([one for each in chosen for one in each.expectations])
        self.targets: dict[Target, frozenset[str] | None] = {}
        self.components: list[Component] = []
        self.objects: dict[Target, dict[str, Object]] = {}
        self.blind: dict[Target, AicrError] = {}
        self._lost: dict[Target, tuple[float, AicrError]] = {}
        self._aims: dict[Target, list[Aim]] = {}
        for each in chosen:
            aims = [Aim(one, place[one.selection]) for one in each.expectations]
            self.components.append(Component(each, aims))
            for aim in aims:
                self._aims.setdefault(aim.target, []).append(aim)
                self.targets[aim.target] = _joined(self.targets.get(aim.target, frozenset()), aim.expectation)

    def take(self, event: Event, now: float) -> None:
        """Take note of an event.

        :raises AicrError: a target cannot be followed.
        """
        target = event.target
        match event:
            case Failed(_unused, error):
                raise error
            case Blind(_unused, why):
                if why is not None:
                    self.blind[target] = why
                    self._lost[target] = (now, why)
                else:
                    self.blind.pop(target, None)
                return
            case Changed(_unused, key, found):
                self._change(target, key, found)
                missed = False
            case Listed(_unused, objects):
                missed = target in self.objects and _versions(objects) != _versions(self.objects[target])
                self._replace(target, objects)
            case Unserved(_unused):
                missed = bool(self.objects.get(target))
                self._replace(target, {})
        for component in self.components:
            if any(aim.target == target for aim in component.aims):
                component.settle(now, missed)

    def settle(self, now: float) -> None:
        """Note since when each component holds that waits for nothing, too."""
        for component in self.components:
            component.settle(now, False)

    def restart(self, now: float) -> None:
        """Count anew for how long each component holds."""
        for component in self.components:
            component.settle(now, True)

    def is_ready(self, component: Component, now: float, stable: float) -> bool:
        """Whether a component has held for so long, and is in sight."""
        steady = component.since is not None and now - component.since >= stable
        return steady and not any(aim.target in self.blind for aim in component.aims)

    def lost(self, target: Target, now: float) -> AicrError | None:
        """Why a target is not seen, or was not a moment ago: a connection may be made and break before it says much."""
        if target in self.blind:
            return self.blind[target]
        when, why = self._lost.get(target, (0.0, None))
        return why if now - when < LATELY_SECONDS else None

    def offenders(self, aim: Aim) -> Iterator[Object]:
        """The objects that an expectation does not hold of."""
        objects = self.objects.get(aim.target, {})
        return (objects[key] for key in aim.offenders() if key in objects)

    def _replace(self, target: Target, objects: Mapping[str, Object]) -> None:
        self.objects[target] = dict(objects)
        for aim in self._aims[target]:
            aim.take(objects)

    def _change(self, target: Target, key: str, found: Object | None) -> None:
        known = self.objects.setdefault(target, {})
        known.pop(key, None)
        if found is not None:
            known[key] = found
        for aim in self._aims[target]:
            aim.change(key, found)


def targets_of(expectations: Iterable[Expectation]) -> dict[Selection, Target]:
    """What to follow for each selection: as little as can be, and no object twice without need."""
    groups: dict[tuple[str, str, str | None], set[Selection]] = {}
    for expectation in expectations:
        selection = expectation.selection
        groups.setdefault((selection.api_version, selection.kind, selection.namespace), set()).add(selection)
    found: dict[Selection, Target] = {}
    for place, selections in groups.items():
        names = {selection.name for selection in selections if selection.name}
        unnamed = [selection for selection in selections if not selection.name]
        labels = {selection.labels for selection in unnamed}
        whole = () in labels or (len(names) > 1 and place[1] not in _ONE_BY_ONE)
        for selection in selections:
            if whole and not (selection.name and place[1] in _ONE_BY_ONE and () not in labels):
                found[selection] = Target(*place)
            elif selection.name:
                found[selection] = Target(*place, name=selection.name)
            else:
                found[selection] = Target(*place, labels=selection.labels)
    return found


def _joined(fields: frozenset[str] | None, expectation: Expectation) -> frozenset[str] | None:
    """The fields that anybody reads of a target, with those of one more expectation; status is told when it fails."""
    more = fields_of(expectation.assertion.tree)
    if fields is None or more is None:
        return None
    return fields | more | (_ROLLOUT_FIELDS if expectation.rolled_out else {"status"})


def _versions(objects: Mapping[str, Object]) -> dict[str, object]:
    return {key: found["metadata"].get("resourceVersion") for key, found in objects.items()}
