# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The environment of a container: values, Secrets, ConfigMaps, the pod's own fields, and $(NAME) in all of them."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..api import Object

Find = Callable[[str, str, str], Object | None]
"""The object of a kind (`secrets`, `configmaps`), a namespace and a name."""

_KEYED = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")
_REFERENCE = re.compile(r"\$\$|\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)")
_QUANTITY = re.compile(r"([0-9.]+)(m|[kKMGTPE]i?)?")
_KINDS = {"secret": ("secrets", "Secret"), "configMap": ("configmaps", "ConfigMap")}


class Unresolved(Exception):
    """Something that a pod refers to is not there; the message is the one a kubelet gives."""


def environment(pod: Object, node: Object, container: Object, find: Find) -> dict[str, str]:
    """The variables that a container states, in order.

    :raises Unresolved: a Secret, a ConfigMap or a key of one is missing and not optional.
    """
    namespace = pod["metadata"]["namespace"]
    found: dict[str, str] = {}
    for source in container.get("envFrom", ()):
        for kind in _KINDS.keys() & {key.removesuffix("Ref") for key in source}:
            for key, content in entries(kind, namespace, source[f"{kind}Ref"], find).items():
                found[source.get("prefix", "") + key] = content.decode("utf-8", "replace")
    for variable in container.get("env", ()):
        if "valueFrom" in variable:
            value = _from(variable["valueFrom"], pod, node, container, find)
            if value is not None:
                found[variable["name"]] = value
        else:
            found[variable["name"]] = expand(variable.get("value", ""), found)
    return found


def expand(text: str, values: Mapping[str, str]) -> str:
    """Put values in for $(NAME); what has no value stays, and $$ stands for one dollar sign."""
    return _REFERENCE.sub(lambda match: "$" if match[1] is None else values.get(match[1], match[0]), text)


def entries(kind: str, namespace: str, reference: Mapping[str, Any], find: Find) -> dict[str, bytes]:
    """What a Secret or a ConfigMap holds; nothing, if it is missing but optional.

    :raises Unresolved: it is missing.
    """
    name = reference.get("name") or reference.get("secretName", "")
    holder = find(_KINDS[kind][0], namespace, name)
    if holder is None:
        if reference.get("optional"):
            return {}
        raise Unresolved(f'{kind.lower()} "{name}" not found')
    encoded = dict(holder.get("binaryData") or {})
    plain = holder.get("data") or {}
    if kind == "secret":
        encoded, plain = plain, {}
    return {
        **{key: value.encode() for key, value in plain.items()},
        **{key: base64.b64decode(value) for key, value in encoded.items()},
    }


def field(path: str, pod: Object, node: Object) -> str:
    """A field of the pod as the downward API gives it.

    :raises Unresolved: no such field is given to containers.
    """
    metadata, spec, status = pod["metadata"], pod["spec"], pod.get("status", {})
    keyed = _KEYED.fullmatch(path)
    if keyed:
        return str(metadata.get(keyed[1], {}).get(keyed[2], ""))
    if path in ("metadata.labels", "metadata.annotations"):
        pairs = metadata.get(path.removeprefix("metadata."), {})
        return "\n".join(f'{key}="{value}"' for key, value in sorted(pairs.items()))
    host = node_ip(node)
    values = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata["uid"],
        "spec.nodeName": spec["nodeName"],
        "spec.serviceAccountName": spec.get("serviceAccountName", "default"),
        "status.hostIP": host,
        "status.hostIPs": host,
        "status.podIP": status.get("podIP", ""),
        "status.podIPs": status.get("podIP", ""),
    }
    if path not in values:
        raise Unresolved(f"unsupported fieldPath: {path}")
    return str(values[path])


def resource(reference: Mapping[str, Any], pod: Object, node: Object, container: Object) -> str:
    """A limit or request of a container, in units of the divisor and rounded up; a limit not given is the node's."""
    of = reference.get("containerName") or container["name"]
    everyone = [*pod["spec"]["containers"], *pod["spec"].get("initContainers", ())]
    owner = next(one for one in everyone if one["name"] == of)
    kind, _dot, name = reference["resource"].partition(".")
    stated = owner.get("resources", {}).get(kind, {}).get(name)
    if stated is None and kind == "limits":
        stated = node["status"]["allocatable"].get(name)
    divisor = reference.get("divisor", "1")
    return str(math.ceil(_quantity(stated or "0") / (_quantity(divisor) or 1)))


def node_ip(node: Object) -> str:
    """The InternalIP of a node."""
    addresses = {address["type"]: str(address["address"]) for address in node["status"]["addresses"]}
    return addresses["InternalIP"]


def _from(source: Object, pod: Object, node: Object, container: Object, find: Find) -> str | None:
    if "fieldRef" in source:
        return field(source["fieldRef"]["fieldPath"], pod, node)
    if "resourceFieldRef" in source:
        return resource(source["resourceFieldRef"], pod, node, container)
    namespace = pod["metadata"]["namespace"]
    for kind, (_plural, title) in _KINDS.items():
        reference = source.get(f"{kind}KeyRef")
        if reference is not None:
            held = entries(kind, namespace, reference, find)
            if reference["key"] in held:
                return held[reference["key"]].decode("utf-8", "replace")
            if reference.get("optional"):
                return None
            raise Unresolved(f"couldn't find key {reference['key']} in {title} {namespace}/{reference['name']}")
    raise Unresolved(f"unsupported source of a variable: {', '.join(source)}")


def _quantity(text: str) -> float:
    match = _QUANTITY.fullmatch(str(text))
    if match is None:
        raise Unresolved(f"cannot read the quantity {text}")
    unit = match[2] or ""
    if unit == "m":
        return float(match[1]) / 1000
    base = 1024.0 if unit.endswith("i") else 1000.0
    power = " kMGTPE".index(unit[0].replace("K", "k")) if unit else 0
    return float(match[1]) * base**power
