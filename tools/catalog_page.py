# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write what recipes/ holds into docs/catalog.md: the tree, criteria, components with their versions, and images.

    python tools/catalog_page.py [--check]

What stands above the mark in that page is written by hand and stays. ``--check`` writes nothing and fails if the page
is not what would be written.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import ANY, AXES
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog, Overlay, embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog.catalog import EMBEDDED_ROOT

PAGE = Path(__file__).resolve().parents[1] / "docs" / "catalog.md"
MARK = "<!-- From here on written by tools/catalog_page.py: `make catalog-page`. -->"
_VARIABLE = re.compile(r'\{\{-? \$(\w+) := "([^"]+)" \}\}')
_KEY = re.compile(r"^(\s*)(?:- )?(image|repository|version|tag|containerSHA): (.+)$")


def page(by_hand: str) -> str:
    """The whole page: what is written by hand, and what the catalog holds."""
    catalog = embedded()
    parts = [
        MARK,
        "## What the catalog holds",
        _intro(catalog),
        "### What can be asked for",
        (
            "One row for each overlay that names the service; systems and platforms come with it. Slurm, Dynamo and NIM"
            " state their own system and floor, see the tree. That something can be asked for does not say that it was"
            " tried: the reference has Oracle Linux on OKE alone, and no Kubeflow on BCM, LKE and OpenShift."
        ),
        table(("Service", "Accelerator", "Intent", "Kubernetes", "Systems", "Platforms"), list(_recipes(catalog))),
        "### The tree",
        "Each overlay, the criteria that it joins, and the mixins that it uses.",
        "```text\n" + "\n".join(_tree(catalog, catalog.base)) + "\n```",
        "### Criteria",
        table(("Criterion", "With recipes", "Known besides"), list(_criteria(catalog))),
        "### Profiles",
        table(("Overlay", "Profile", "Values, the default first"), _profiles(catalog)),
        "### Components",
        "Charts and versions are those of `registry.yaml`; an overlay that deviates is named.",
        table(("Component", "Chart", "Version", "Repository", "Namespace"), _components(catalog)),
        "### Images",
        "The images that values and manifests of the catalog name. All others are those of the charts' own values.",
        table(("Image", "Version", "Component"), _images()),
    ]
    return by_hand.partition(MARK)[0].rstrip() + "\n\n" + "\n\n".join(parts) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines).replace("| --- ", "|---").replace("---|", "---|")


def _intro(catalog: Catalog) -> str:
    ends = [overlay for overlay in catalog.overlays.values() if overlay.criteria and overlay.criteria.stated()]
    return (
        f"{len(catalog.overlays) + 1} overlays, of which a query can end at {len(ends)},"
        f" {len(catalog.mixins)} mixins and {len(catalog.registry.names)} components."
    )


def _criteria(catalog: Catalog) -> Iterator[tuple[str, ...]]:
    for axis in AXES:
        stated = {getattr(overlay.criteria, axis) for overlay in catalog.overlays.values() if overlay.criteria}
        used = sorted(value for value in stated if value and value != ANY)
        yield axis, ", ".join(used), ", ".join(sorted({*catalog.criteria_values()[axis]} - {*used, ANY}))


def _recipes(catalog: Catalog) -> Iterator[tuple[str, ...]]:
    """One row for each overlay of a service and an intent below which no other names an accelerator or an intent."""
    anywhere = [
        stated
        for stated in map(_stated, catalog.overlays.values())
        if "service" not in stated and "accelerator" not in stated
    ]
    rows = []
    for overlay in catalog.overlays.values():
        stated = _stated(overlay)
        below = [_stated(each) for each in catalog.overlays.values() if overlay in catalog.chain(each)[:-1]]
        if not {"service", "intent"} <= stated.keys() or "platform" in stated:
            continue
        if "accelerator" not in stated and any("accelerator" in each for each in below):
            continue
        joining = [each for each in anywhere if all(stated.get(axis, value) == value for axis, value in each.items())]
        systems = {each["os"] for each in (*joining, stated) if "os" in each}
        platforms = {each["platform"] for each in (*joining, *below) if "platform" in each}
        floor = next(one.value for one in overlay.constraints if one.name == "K8s.server.version")
        rows.append(
            (
                *(stated.get(axis, "") for axis in ("service", "accelerator", "intent")),
                floor.removeprefix(">= "),
                ", ".join(sorted(systems)),
                ", ".join(sorted(platforms)),
            )
        )
    return iter(sorted(rows))


def _stated(overlay: Overlay) -> Mapping[str, str]:
    return overlay.criteria.stated() if overlay.criteria else {}


def _tree(catalog: Catalog, overlay: Overlay, depth: int = 0) -> Iterator[str]:
    stated = _stated(overlay)
    asks = " ".join(f"{axis}={value}" for axis, value in stated.items())
    notes = [*([asks] if asks else []), *([f"+ {', '.join(overlay.mixins)}"] if overlay.mixins else [])]
    yield ("  " * depth + overlay.name).ljust(50 if notes else 0) + "  ".join(notes)
    for child in catalog.overlays.values():
        if child.parent == overlay.name:
            yield from _tree(catalog, child, depth + 1)


def _profiles(catalog: Catalog) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for overlay in catalog.overlays.values():
        if profile := overlay.profile:
            values = sorted(map(str, profile.values), key=lambda value: (value != profile.default, value))
            rows.append((overlay.name, profile.name, ", ".join(values)))
    return rows


def _components(catalog: Catalog) -> list[tuple[str, ...]]:
    deviations: dict[str, list[str]] = {}
    for overlay in (catalog.base, *catalog.overlays.values()):
        for ref in overlay.component_refs:
            if ref.version:
                deviations.setdefault(ref.name, []).append(f"{ref.version} in {overlay.name}")
    rows: list[tuple[str, ...]] = []
    for component in catalog.registry.components:
        helm = component.helm
        if helm is None or not helm.default_repository:
            rows.append((component.name, "manifests", "", "", helm.default_namespace or "" if helm else ""))
            continue
        chart = (helm.default_chart or component.name).rpartition("/")[2]
        version = "; ".join([helm.default_version or "", *deviations.get(component.name, [])])
        rows.append((component.name, chart, version, helm.default_repository, helm.default_namespace or ""))
    return sorted(rows)


def _images() -> list[tuple[str, ...]]:
    used: dict[tuple[str, str], set[str]] = {}
    for path in sorted(EMBEDDED_ROOT.glob("components/*/**/*.yaml")):
        text = path.read_text(encoding="utf-8")
        component = path.relative_to(EMBEDDED_ROOT).parts[1]
        found = _in_template(text) if path.parent.name == "manifests" else _in_values(yamlio.load(text, path.name))
        for image, version in found:
            used.setdefault((image, version), set()).add(component)
    return sorted((image, version, ", ".join(sorted(names))) for (image, version), names in used.items())


def _in_values(tree: Any) -> Iterator[tuple[str, str]]:
    if isinstance(tree, list):
        for each in tree:
            yield from _in_values(each)
    if not isinstance(tree, Mapping):
        return
    texts = {key: str(value) for key, value in tree.items() if not isinstance(value, Mapping | list) and value}
    if "repository" in texts and texts.keys() & {"tag", "version"}:
        name = "/".join(filter(None, (texts["repository"], texts.get("image"))))
        yield _split(name + _joined(texts.get("tag") or texts.get("version") or ""))
    elif "image" in texts:
        yield _split(texts["image"])
    for value in tree.values():
        yield from _in_values(value)


def _in_template(text: str) -> Iterator[tuple[str, str]]:
    """Images in the text of a template, whose neighbours at the same depth say what else there is to say of them."""
    variables = dict(_VARIABLE.findall(text))
    block: dict[str, str] = {}
    depth = -1
    for line in [*text.splitlines(), "end: true"]:
        match = _KEY.match(line)
        here = len(line) - len(line.lstrip()) + (2 if line.lstrip().startswith("- ") else 0)
        if block and (here < depth or line.lstrip().startswith("- ") or (match and match[2] in block)):
            yield from _of_block(block)
            block = {}
        if match and (not block or here == depth):
            depth = here
            block[match[2]] = re.sub(r"\{\{ \$(\w+).*?\}\}", lambda name: variables[name[1]], match[3]).strip("\"'")
    yield from _of_block(block)


def _of_block(block: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if "image" in block:
        name = "/".join(filter(None, (block.get("repository"), block["image"])))
        version = block.get("version", "") + (f"@{block['containerSHA']}" if "containerSHA" in block else "")
        yield _split(name + _joined(version))


def _joined(version: str) -> str:
    return f":{version}" if version else ""


def _split(image: str) -> tuple[str, str]:
    """The name of an image, and its tag and digest."""
    name, _at, digest = image.partition("@")
    head, slash, last = name.rpartition("/")
    last, _colon, tag = last.partition(":")
    return head + slash + last, " ".join(filter(None, (tag, digest)))


def main() -> int:
    written = PAGE.read_text(encoding="utf-8")
    wanted = page(written)
    if written == wanted:
        return 0
    if "--check" in sys.argv[1:]:
        print(f"{PAGE} is not what the catalog holds: make catalog-page", file=sys.stderr)
        return 1
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
