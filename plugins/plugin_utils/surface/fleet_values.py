# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stages would refuse of a cluster's options whatever else is said, told when the inventory is read.

Whether a catalog knows a criterion is left to the recipe: which catalog it is, the fleet file need not say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..bundle.deployers.argocd import ArgoCD
from ..bundle.deployers.deployer import DeployerOptions
from ..bundle.gate import credential_problems
from ..bundle.overrides import OverrideInput, read_overrides
from ..catalog.criteria import read_nodes
from ..cluster import http
from ..cluster.address import SCHEME, Address, spelled
from ..cluster.kubeconfig import server_url
from ..errors import AicrError
from .source import refuse_remote

DOCUMENTS = ("baseline", "recipe", "snapshot")
"""Options that hold an artifact or name it, by a path or an address."""

_OVERRIDES = ("values", "set", "set_json", "install_values")
_THE_INVENTORY = "the inventory, which shows its variables"


def value_problems(name: str, value: Any) -> Iterator[AicrError]:
    """What is wrong with the value of an option that has the right type, in the words of the stage that reads it."""
    check: Callable[[str, Any], object] | None = None
    if name == "criteria" and "nodes" in value:
        problems: list[AicrError] = []
        read_nodes(value["nodes"], name, problems)
        yield from problems
    elif name in _OVERRIDES:
        yield from _credentials(name, value)
    elif name in ("repo", "target_revision", "argocd"):
        problems = []
        ArgoCD.read(DeployerOptions(**{name: value}), problems)
        yield from problems
    elif name in DOCUMENTS and isinstance(value, str):
        check = _refuse_document
    elif name == "host":
        check = _refuse_server
    if check is not None:
        try:
            check(name, value)
        except AicrError as error:
            yield error


def _credentials(name: str, value: Any) -> Iterator[AicrError]:
    """Credentials among the values of components; whether there are such components, the recipe says."""
    given: dict[str, Any] = {"values": {}, "set": (), "set_json": (), "set_file": (), "dynamic": ()}
    given["values" if name == "install_values" else name] = value
    overrides, problems, _unused = read_overrides(OverrideInput(**given), lambda component: component)
    yield from problems
    for override in overrides:
        yield from credential_problems(override, _THE_INVENTORY)


def _refuse_document(name: str, value: str) -> None:
    address = spelled(value)
    if address.startswith(SCHEME):
        Address.parse(address)
    elif address.startswith(http.SCHEMES):
        http.refuse_address(address)
    else:
        refuse_remote(value, name)


def _refuse_server(name: str, value: str) -> None:
    server_url(value, name)
