# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must and what must not be on a cluster once a component of a recipe is deployed: from the recipe alone.

Three sources: the component's health check, its ``expectedResources``, and the mode of Slurm accounting. Which
components there are at all says ``runtime_inventory``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..artifacts.recipe import AccountingMode, ComponentRef, ExpectedResource, RecipeResult
from ..constraints import nearest
from ..constraints.assertion import Assertion, Check, Judgement, Selection, Trouble, called, check_of
from ..constraints.assertion_tree import states, tree_of
from ..errors import AicrError, invalid, raise_all
from ..inventory import runtime_inventory
from ..ownership.accounting import CRDS, DATABASE, FIELD, SLURM
from ..ownership.connection import PROVIDED
from .rollout import API_VERSION as WORKLOADS
from .rollout import KINDS as WORKLOAD_KINDS
from .rollout import rollout_troubles

DEFAULT_SECONDS = 300.0
"""How long a component without a word about it may take."""

_CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
_MARIADB, _SLINKY = "k8s.mariadb.com/v1alpha1", "slinky.slurm.net/v1beta1"
_API_VERSIONS: Mapping[str, str] = {
    **dict.fromkeys(WORKLOAD_KINDS, WORKLOADS),
    **dict.fromkeys(
        ("ConfigMap", "Namespace", "PersistentVolumeClaim", "Pod", "Secret", "Service", "ServiceAccount"), "v1"
    ),
    "CronJob": "batch/v1",
    "Job": "batch/v1",
    "CustomResourceDefinition": _CRD[0],
    "Ingress": "networking.k8s.io/v1",
    "IngressClass": "networking.k8s.io/v1",
    "MutatingWebhookConfiguration": "admissionregistration.k8s.io/v1",
    "ValidatingWebhookConfiguration": "admissionregistration.k8s.io/v1",
    "APIService": "apiregistration.k8s.io/v1",
    "StorageClass": "storage.k8s.io/v1",
    "ClusterPolicy": "nvidia.com/v1",
}
"""The version of each kind that ``expectedResources`` can name, since it names none itself."""

_COUNTS = (("spec", "replicas"), ("status", "replicas"), ("status", "desiredNumberScheduled"))


@dataclass(frozen=True)
class Expectation:
    """Something that must hold of the objects of a cluster.

    :ivar rolled_out: whether a workload that is as the assertion says must have rolled out, too.
    :ivar source: where it comes from: a step of the health check, ``expectedResources``, the mode.
    """

    assertion: Assertion
    rolled_out: bool
    source: str

    @property
    def selection(self) -> Selection:
        """Which objects it is about."""
        return self.assertion.selection

    @property
    def forbids(self) -> bool:
        """Whether it is about what must not be."""
        return self.assertion.refutes

    def judge(self, found: Mapping[str, Any]) -> Judgement:
        """What it says of one object that is meant."""
        judgement = self.assertion.judge(found)
        if judgement.troubles or not self.rolled_out:
            return judgement
        return Judgement(tuple(rollout_troubles(found, called(found, self.selection))))

    def conclude(self, judgements: Iterable[Judgement]) -> list[Trouble]:
        """Why it does not hold, from what it says of every object that is meant; empty if it does."""
        return self.assertion.conclude(judgements)


@dataclass(frozen=True)
class Expected:
    """All that must hold of one component.

    :ivar seconds: how long it may take, by its health check.
    """

    component: str
    expectations: tuple[Expectation, ...]
    seconds: float


def expected_of(
    recipe: RecipeResult, names: Sequence[str] | None = None, kept: Collection[str] = ()
) -> tuple[Expected, ...]:
    """What must hold of the components that run, in deployment order.

    :param names: the components that are meant; all without it. One that the recipe has but does not run is left out.
    :param kept: releases of an earlier mode that a change of mode has left alone; that they are there is no fault.
    :raises AicrError: INVALID_REQUEST: a name that the recipe does not have, a health check that cannot be evaluated,
        an expected resource of a kind whose version is not known; everything at once.
    """
    declared = [ref.name for ref in recipe.component_refs]
    problems = [_unknown(name, declared) for name in names or () if name not in declared]
    found: list[Expected] = []
    for ref in runtime_inventory(recipe).components:
        if names is None or ref.name in names:
            try:
                found.append(_expected(ref, recipe, kept))
            except AicrError as error:
                problems.append(error)
    raise_all(problems)
    return tuple(found)


def _expected(ref: ComponentRef, recipe: RecipeResult, kept: Collection[str]) -> Expected:
    check = None
    if ref.health_check_asserts and not ref.health_check_skip:
        check = check_of(ref.health_check_asserts, f"healthCheckAsserts of {ref.name}")
    expectations = [
        *_of_check(check),
        *(_of_resource(resource, ref) for resource in ref.expected_resources or ()),
        *_of_mode(ref, recipe, kept),
    ]
    unique = {(one.assertion.selection, one.assertion.tree, one.forbids): one for one in reversed(expectations)}
    due = tuple(one for one in expectations if unique[one.assertion.selection, one.assertion.tree, one.forbids] is one)
    return Expected(ref.name, due, (check.seconds if check else None) or DEFAULT_SECONDS)


def _of_check(check: Check | None) -> Iterator[Expectation]:
    for assertion in check.assertions if check else ():
        yield Expectation(assertion, _rolls_out(assertion), f"step {assertion.step}")


def _rolls_out(assertion: Assertion) -> bool:
    """Whether the rules of a rollout apply: to a workload that must be there, unless it must be there for nothing."""
    selection = assertion.selection
    workload = selection.api_version == WORKLOADS and selection.kind in WORKLOAD_KINDS
    return workload and not assertion.refutes and not any(states(assertion.tree, path, 0) for path in _COUNTS)


def _of_resource(resource: ExpectedResource, ref: ComponentRef) -> Expectation:
    version = _API_VERSIONS.get(resource.kind)
    if version is None:
        raise invalid(
            f"{ref.name}: expectedResources names {resource.kind} {resource.name}, a kind whose version is not known",
            f"name one of {', '.join(sorted(_API_VERSIONS))}, or assert it in the health check",
            component=ref.name,
        )
    selection = Selection(version, resource.kind, resource.name, resource.namespace)
    return Expectation(Assertion(selection, tree_of({})), resource.kind in WORKLOAD_KINDS, "expectedResources")


def _of_mode(ref: ComponentRef, recipe: RecipeResult, kept: Collection[str]) -> Iterator[Expectation]:
    """What the mode of accounting makes of a component (spec/slurm-accounting.md 0 and 2.6, spec/engine.md 5.9)."""
    mode = recipe.accounting_mode
    if mode is None:
        return
    source = f"{FIELD}={mode.value}"
    if ref.name == SLURM:
        yield from (Expectation(assertion, rolls, source) for assertion, rolls in _slurm(ref, recipe, mode, kept))
    elif ref.name == DATABASE:
        yield from (Expectation(assertion, False, source) for assertion in _database())
    elif ref.name == CRDS:
        for plural in ("mariadbs", "databases", "users", "grants"):
            selection = Selection(*_CRD, f"{plural}.k8s.mariadb.com")
            yield Expectation(Assertion(selection, _condition("Established")), False, source)


def _slurm(
    ref: ComponentRef, recipe: RecipeResult, mode: AccountingMode, kept: Collection[str]
) -> Iterator[tuple[Assertion, bool]]:
    """An operator's resource and its workload, or neither; and no MariaDB of ours where the mode has none.

    Accounting has no condition, so its StatefulSet is what counts (2.6).
    """
    anything = tree_of({})
    if mode is AccountingMode.DISABLED:
        daemon = (("app.kubernetes.io/name", "slurmdbd"),)
        yield Assertion(Selection(_SLINKY, "Accounting", None, ref.namespace), anything, refutes=True), False
        yield (
            Assertion(Selection(WORKLOADS, "StatefulSet", None, ref.namespace, daemon), anything, refutes=True),
            False,
        )
    else:
        yield Assertion(Selection(_SLINKY, "Accounting", ref.name, ref.namespace), anything), False
        daemons = Selection(WORKLOADS, "StatefulSet", f"{ref.name}-accounting", ref.namespace)
        yield Assertion(daemons, anything), True
    if mode is not AccountingMode.AICR_PROVIDED and DATABASE not in kept:
        # By the name of our release, as its chart labels it: a customer may run a MariaDB of his own beside Slurm.
        ours = (("app.kubernetes.io/instance", DATABASE),)
        place = recipe.component(DATABASE)
        namespace = (place.namespace if place else None) or str(PROVIDED[DATABASE]["namespaceOverride"])
        yield Assertion(Selection(_MARIADB, "MariaDB", None, namespace, ours), anything, refutes=True), False


def _database() -> Iterator[Assertion]:
    """Ready on MariaDB says nothing of database, account and grant (spec/slurm-accounting.md 3.3, case M8)."""
    contract = PROVIDED[DATABASE]
    name, namespace = str(contract["fullnameOverride"]), str(contract["namespaceOverride"])
    for kind, suffix in (("MariaDB", ""), ("Database", "-database"), ("User", "-user"), ("Grant", "-user-all")):
        yield Assertion(Selection(_MARIADB, kind, f"{name}{suffix}", namespace), _condition("Ready"))
    # Ready stays True while an update waits; then Updated is False (spec/operators.md section 5, item 2).
    waits = {"status": {"(length((conditions || `[]`)[?type == 'Updated' && status == 'False']) > `0`)": True}}
    yield Assertion(Selection(_MARIADB, "MariaDB", name, namespace), tree_of(waits), refutes=True)
    secret, key = (str(contract[f"mariadb.passwordSecretKeyRef.{field}"]) for field in ("name", "key"))
    filled = {f"(length(data.\"{key}\" || '') > `0`)": True}
    yield Assertion(Selection("v1", "Secret", secret, namespace), tree_of(filled))
    yield Assertion(Selection("v1", "Service", name, namespace), tree_of({}))


def _condition(kind: str) -> Any:
    return tree_of({"status": {f"(conditions[?type == '{kind}'])": [{"status": "True"}]}})


def _unknown(name: str, declared: Sequence[str]) -> AicrError:
    meant = nearest(name, declared)
    hint = f'did you mean "{meant}"?' if meant else f"it has {', '.join(sorted(declared))}"
    return invalid(f'the recipe has no component "{name}"', hint, component=name)
