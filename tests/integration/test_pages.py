# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/accounting.md and docs/catalog.md say what happens: their tables and examples are tried.

They also say by which test each rule that is stricter than the reference implementation is held.
"""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.bundle import make_bundle
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import BUNDLE, RECIPE, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe import make_recipe

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "accounting.md").read_text(encoding="utf-8")
CRITERIA = {"service": "eks", "accelerator": "h100", "intent": "training", "os": "ubuntu", "platform": "slurm"}
WithoutMode = Callable[[Mapping[str, Any]], dict[str, Any]]


def table(*columns: str, page: str = PAGE) -> list[list[str]]:
    """The rows of the page's table with these columns."""
    head = f"| {' | '.join(columns)} |\n"
    assert page.count(head) == 1, f"there must be one table with {columns}"
    lines = page.partition(head)[2].splitlines()[1:]
    end = next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return [[cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in lines[:end]]


def code(cell: str) -> Any:
    """What stands in a cell as code, as YAML."""
    assert cell.startswith("`") and cell.endswith("`"), cell
    return yaml.safe_load(cell[1:-1])


@functools.cache
def resolved(mode: str) -> Any:
    return make_recipe(parse(RECIPE, {"criteria": CRITERIA, "slurm_accounting_mode": mode})).document


def recipe(cell: str, without_mode: WithoutMode) -> Any:
    """The recipe of a mode, or one from before there were modes."""
    if cell == "legacy":
        return without_mode(resolved("disabled"))
    return copy.deepcopy(resolved(code(cell)))


def edit(document: Any, path: str, value: object) -> None:
    """Change one place of a recipe; a component goes by its name, and null takes away."""
    *parents, last = path.split(".")
    for key in parents:
        document = next(ref for ref in document if ref["name"] == key) if isinstance(document, list) else document[key]
    if isinstance(document, list):
        assert value is None
        document[:] = [ref for ref in document if ref["name"] != last]
    elif value is None:
        del document[last]
    else:
        document[last] = value


def assert_refused(task: Callable[[], object], message: str, way_out: str, code: str = "INVALID_REQUEST") -> None:
    with pytest.raises(AicrError) as caught:
        task()
    assert caught.value.code == code
    assert caught.value.message == message
    assert way_out, "every refusal has a way out"
    if way_out.endswith("…"):
        assert caught.value.hint.startswith(way_out.removesuffix("…"))
    elif caught.value.hint:
        assert caught.value.hint == way_out
    assert "hunter2" not in str(caught.value)


def rows(*columns: str) -> pytest.MarkDecorator:
    found = table(*columns)
    return pytest.mark.parametrize("row", found, ids=["-".join(row[1:-2]) for row in found])


@rows("Rule", "Options", "Refused with", "Way out")
def test_a_recipe_is_refused_as_the_page_says(row: list[str]) -> None:
    _unused, options, message, way_out = row
    assert_refused(lambda: make_recipe(parse(RECIPE, {"criteria": CRITERIA, **code(options)})), message, way_out)


@rows("Rule", "Recipe", "Given", "Refused with", "Way out")
def test_a_bundle_is_refused_as_the_page_says(row: list[str], without_mode: WithoutMode) -> None:
    _unused, of, options, message, way_out = row
    arguments = {"recipe": recipe(of, without_mode), "dest": "unused", **code(options)}
    assert_refused(lambda: make_bundle(parse(BUNDLE, arguments)), message, way_out)


@rows("Rule", "Recipe", "Edited", "Refused with", "Way out")
def test_an_edited_recipe_is_refused_as_the_page_says(row: list[str], without_mode: WithoutMode) -> None:
    _unused, of, edits, message, way_out = row
    edited = recipe(of, without_mode)
    for path, value in code(edits).items():
        edit(edited, path, value)
    conflicting = "crs-detected" in edits or "unknown" in edits
    assert_refused(
        lambda: make_bundle(parse(BUNDLE, {"recipe": edited, "dest": "unused"})),
        message,
        way_out,
        "CONFLICT" if conflicting else "INVALID_REQUEST",
    )


def bundled(mode: str, **options: object) -> Mapping[str, Any]:
    """The values of slinky-slurm in a bundle."""
    made = make_bundle(parse(BUNDLE, {"recipe": resolved(mode), "dest": "unused", **options}))
    tree = made.product.bundle.tree  # type: ignore[attr-defined]
    (name,) = (name for name in tree if re.fullmatch(r"\d+-slinky-slurm/values\.yaml", name))
    found: dict[str, Any] = yaml.safe_load(tree[name].content)
    return found


def test_what_is_left_out_of_the_connection_is_the_catalogs() -> None:
    storage = bundled("customer-managed", set=["slinkyslurm:accounting.storageConfig.host=db.example.com"])
    assert storage["accounting"]["storageConfig"] == {
        "host": "db.example.com",
        "port": 3306,
        "database": "slurm_acct_db",
        "username": "slurm",
        "passwordKeyRef": {"name": "mariadb-password", "key": "password"},
    }


def test_the_example_of_a_connection_is_accepted(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n# accounting-storage\.yaml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "storage.yaml").write_text(text)
    made = bundled("customer-managed", set_file=[f"slinkyslurm:accounting.storageConfig={tmp_path}/storage.yaml"])
    assert made["accounting"]["storageConfig"] == yaml.safe_load(text)


@pytest.mark.parametrize("mode", ["customer-managed", "aicr-provided"])
def test_tls_and_what_else_the_mode_does_not_own_is_open(mode: str) -> None:
    extra = "StorageParameters=SSL_CA=/etc/slurm-db-tls/ca.crt"
    assert bundled(mode, set=[f"slinkyslurm:accounting.extraConf={extra}"])["accounting"]["extraConf"] == extra


def test_the_example_of_a_catalog_of_ones_own_makes_a_recipe(tmp_path: Path) -> None:
    (text,) = re.findall(
        r"```yaml\n# own/overlays/l40s-eks\.yaml\n(.*?)```", (DOCS / "catalog.md").read_text(), re.DOTALL
    )
    (tmp_path / "overlays").mkdir()
    (tmp_path / "overlays" / "l40s-eks.yaml").write_text(text)
    header = "kind: ComponentRegistry\napiVersion: aicr.run/v1alpha2\n"
    (tmp_path / "registry.yaml").write_text(f"{header}components: []\n")
    criteria = {"service": "eks", "accelerator": "l40s"}
    made: Any = make_recipe(parse(RECIPE, {"criteria": criteria, "catalog": str(tmp_path)})).document
    assert made["metadata"]["appliedOverlays"][-1] == "l40s-eks"
    (operator,) = (ref for ref in made["componentRefs"] if ref["name"] == "gpu-operator")
    assert operator["overrides"]["driver"]["version"] == "580.105.08"


def test_nobody_is_promised_a_managed_service() -> None:
    assert "fully managed" not in PAGE.lower()
    assert "installation-managed" in PAGE


@pytest.mark.parametrize(
    ("page", "first"), [("accounting.md", "Rule"), ("catalog.md", "Rule"), ("catalog.md", "Input")]
)
def test_every_rule_is_one_sentence_and_linked_to_a_test_that_exists(page: str, first: str) -> None:
    linked = table(first, "Says", "Test", page=(DOCS / page).read_text(encoding="utf-8"))
    assert len(linked) > 5
    for rule, sentence, tests in linked:
        assert sentence.endswith(".") and ". " not in sentence, rule
        found = re.findall(r"\[\w+\.py\]\(([^)]+)\) `(test_\w+)`", tests)
        assert found, f"{rule} is linked to no test"
        for file, name in found:
            assert f"def {name}(" in (DOCS / file).read_text(encoding="utf-8"), f"{file} has no {name}"


def test_the_rules_are_all_there() -> None:
    rules = {row[0] for row in table("Rule", "Says", "Test")}
    assert rules == {
        *(f"lock-{name}" for name in ("stripped", "legacy", "disabled-storage", "external", "toggle")),
        *(f"contract-{name}" for name in ("closed", "values", "dynamic")),
    }
