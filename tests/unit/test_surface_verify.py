# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a cluster of which not everything can be read, or nothing: it never is the one from before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.bundle import make_bundle
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import BUNDLE, RECIPE, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe import make_recipe
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.verify import SPEC, verify

from .fake_api import FakeApi, Reply, Request, status

CRITERIA = {"service": "kind", "accelerator": "h100", "intent": "training", "platform": "slurm"}
REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
RECORD = "/api/v1/namespaces/default/configmaps/aicr-deployment"
WORKLOADS = "/apis/apps/v1"
GREEN = json.dumps({"reportFormat": "CTRF", "results": {"summary": {"failed": 0}, "tests": []}}, indent=2)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a bundle of Slurm without accounting, and its recipe."""
    folder = tmp_path_factory.mktemp("made")
    recipe = make_recipe(parse(RECIPE, {"criteria": CRITERIA, "slurm_accounting_mode": "disabled"})).document
    names = ["cert-manager", "slinky-slurm-operator-crds", "slinky-slurm-operator", "slinky-slurm"]
    given = parse(BUNDLE, {"recipe": recipe, "dest": str(folder / "bundle"), "components": names})
    make_bundle(given).deliver(check_mode=False, diff=False, return_document=False)
    (folder / "recipe.yaml").write_text(yamlio.dump(recipe), encoding="utf-8")
    return folder


@pytest.fixture
def api() -> Iterator[FakeApi]:
    """A cluster in which a deployment is recorded and nothing else is."""
    data = {"state": "deployed", "mode": "disabled", "recipe-digest": "r", "bundle-digest": "b", "releases": "[]"}
    kinds = [{"name": "deployments", "kind": "Deployment", "namespaced": True}]
    objects = {
        RECORD: {"metadata": {"namespace": "default", "name": "aicr-deployment"}, "data": data},
        WORKLOADS: {"kind": "APIResourceList", "resources": kinds},
    }
    objects |= {f"/api/v1/namespaces/{name}/secrets": [] for name in ("cert-manager", "slinky", "slurm")}
    objects |= {f"{WORKLOADS}/namespaces/{name}/deployments": [] for name in ("cert-manager", "slinky", "slurm")}
    with FakeApi(objects) as api:
        refuse(api)
        yield api


def refuse(api: FakeApi, *parts: str, code: int = 403) -> None:
    """Have the server refuse every path that has one of the parts in it, and say so when it is asked for rights."""

    def trouble(request: Request) -> Reply | None:
        if request.path == REVIEW:
            asked = json.loads(request.body)["spec"]["resourceAttributes"]
            place = f"/namespaces/{asked['namespace']}/{asked['resource']}"
            may = asked["verb"] != "*" and not any(place.endswith(part) for part in parts)
            return Reply(201, {"status": {"allowed": may}})
        return status(code, "no") if any(part in request.path for part in parts) else None

    api.trouble = trouble


def run(made: Path, dest: Path, *, check_mode: bool = False, **options: object) -> dict[str, Any]:
    """One task over a report that is all green."""
    dest.write_text(GREEN, encoding="utf-8")
    given = {"bundle": str(made / "bundle"), "recipe": str(made / "recipe.yaml"), "dest": str(dest), "wait": False}
    asked = parse(SPEC, {**given, "probe": False, **options})
    return verify(asked, check_mode=check_mode, tell=str).deliver(
        check_mode=check_mode, diff=False, return_document=False
    )


def report(dest: Path) -> dict[tuple[str, str], tuple[str, str]]:
    tests = json.loads(dest.read_text(encoding="utf-8"))["results"]["tests"]
    return {(one["suite"][0], one["name"]): (one["status"], one["message"]) for one in tests}


@pytest.mark.parametrize("wait", [False, True])
def test_what_may_not_be_read_fails_by_name_and_the_rest_is_judged(
    made: Path, tmp_path: Path, api: FakeApi, wait: bool
) -> None:
    whole = run(made, tmp_path / "whole.json", host=api.url)
    refuse(api, "/secrets", "/namespaces/cert-manager/deployments")
    seen = run(made, tmp_path / "verify.json", host=api.url, wait=wait, timeout=0.5)
    found = report(tmp_path / "verify.json")
    assert found.keys() == report(tmp_path / "whole.json").keys()
    assert seen["summary"]["failed"] >= whole["summary"]["failed"]
    assert seen["error"]["code"] == "CONFLICT"
    releases = [said for (suite, _name), said in found.items() if suite == "releases"]
    assert releases and all(said.startswith("not known: [UNAUTHORIZED] ") for _status, said in releases)
    assert found["record", "the state of the deployment"] == ("passed", "deployed")
    state, said = found["readiness", "cert-manager: Deployment cert-manager/cert-manager"]
    assert state == "failed" and said.startswith("not known: [UNAUTHORIZED] ") and "list deployments.apps" in said
    others = [said for (suite, name), (_state, said) in found.items() if suite == "readiness" and "slinky" in name]
    assert others and not any("not known" in said for said in others)


def test_a_record_that_may_not_be_read_is_one_test_of_many(made: Path, tmp_path: Path, api: FakeApi) -> None:
    refuse(api, RECORD)
    run(made, tmp_path / "verify.json", host=api.url)
    found = report(tmp_path / "verify.json")
    state, said = found["record", "the record of the deployment"]
    assert state == "failed" and said.startswith(f"not known: [UNAUTHORIZED] {RECORD}: not allowed")
    assert {suite for suite, _name in found} >= {"record", "releases", "readiness"}


def test_a_record_that_says_nothing_known_has_the_way_out_of_a_deployment(
    made: Path, tmp_path: Path, api: FakeApi
) -> None:
    api.objects[RECORD]["data"]["mode"] = "foo"
    run(made, tmp_path / "verify.json", host=api.url)
    _state, said = report(tmp_path / "verify.json")["record", "the record of the deployment"]
    assert "its mode, foo, is none of" in said
    assert "remove it (`kubectl delete configmap aicr-deployment --namespace default`) and deploy" in said


def test_without_fail_on_error_and_in_check_mode_no_test_fails_the_task(
    made: Path, tmp_path: Path, api: FakeApi
) -> None:
    refuse(api, "/secrets")
    dest = tmp_path / "verify.json"
    assert "failed" not in run(made, dest, host=api.url, fail_on_error=False)
    seen = run(made, dest, host=api.url, check_mode=True)
    assert "failed" not in seen and seen["summary"]["failed"]
    assert dest.read_text(encoding="utf-8") == GREEN


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"host": "https://127.0.0.1:1"}, "SERVICE_UNAVAILABLE"),
        ({"kubeconfig": "nowhere.yaml"}, "NOT_FOUND"),
        ({"bundle": "nowhere"}, "NOT_FOUND"),
        ({"recipe": {"kind": "Pod"}}, "INVALID_REQUEST"),
        ({"login": 401}, "UNAUTHORIZED"),
    ],
)
def test_where_nothing_can_be_looked_at_the_report_says_that(
    made: Path, tmp_path: Path, api: FakeApi, change: dict[str, Any], code: str
) -> None:
    refuse(api, *(["/"] if change.pop("login", None) else []), code=401)
    given: dict[str, Any] = {"fail_on_error": False, **({} if "kubeconfig" in change else {"host": api.url}), **change}
    dest = tmp_path / "verify.json"
    predicted = run(made, dest, check_mode=True, **given)
    assert (predicted["error"]["code"], dest.read_text(encoding="utf-8")) == (code, GREEN)
    seen = run(made, dest, **given)
    assert (seen["failed"], seen["error"]["code"], seen["summary"]["failed"]) == (True, code, 1)
    assert report(dest) == {("stopped", "the deployment can be verified"): ("failed", seen["msg"])}
