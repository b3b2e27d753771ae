# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The charts that stand for the catalog's: what the real ones rendered, or what their checks ask for."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.aicr.runtime.tests.cluster.bed.programs import ensure
from ansible_collections.aicr.runtime.tests.cluster.charts import charts_folder
from ansible_collections.aicr.runtime.tests.cluster.charts.generated import Catalog

RECIPES = Path(__file__).parents[2] / "recipes"
RECORDED = {
    "chart-mariadb-operator-default": ("mariadb-operator", "mariadb-operator", []),
    "chart-mariadb-operator-certmanager": (
        "mariadb-operator",
        "mariadb-operator",
        ["webhook.cert.certManager.enabled=true"],
    ),
    "chart-mariadb-operator-min": (
        "mariadb-operator",
        "mariadb-operator",
        ["webhook.enabled=false", "certController.enabled=false"],
    ),
    "chart-mariadb-cluster-default": ("mariadb", "slurm", []),
    "chart-mariadb-cluster-aicr": (
        "mariadb",
        "slurm",
        [
            "fullnameOverride=mariadb",
            "mariadb.replicas=1",
            "mariadb.galera.enabled=false",
            "mariadb.database=slurm_acct_db",
            "mariadb.username=slurm",
            "mariadb.cleanupPolicy=Skip",
        ],
    ),
    "chart-slurm-operator-default": ("slurm-operator", "slinky", []),
    "chart-slurm-operator-nocertmanager": ("slurm-operator", "slinky", ["certManager.enabled=false"]),
    "chart-slurm-default": ("slurm", "slurm", []),
    "chart-slurm-accounting": ("slurm", "slurm", ["-f", "case-c-values.yaml"]),
}
"""Recording: release, namespace and values, as spec/operators.md section 4 has them."""


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All charts, as archives."""
    return charts_folder(tmp_path_factory.mktemp("charts"))


def rendered(helm: str, chart: Path, release: str, namespace: str, *options: str) -> list[dict[str, Any]]:
    """What `helm template` makes of a chart."""
    command = [str(ensure()[helm]), "template", release, str(chart), "-n", namespace, *options]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [document for document in yaml.safe_load_all(text) if document]


def comparable(documents: list[dict[str, Any]]) -> dict[tuple[str, str], Any]:
    """By kind and name, without what is secret, made anew each time, or masked in the recording."""
    found = {}
    for document in documents:
        metadata = document["metadata"]
        metadata.pop("creationTimestamp", None)
        for field in ("data", "stringData"):
            if document["kind"] == "Secret" and field in document:
                document[field] = sorted(document[field])
        for webhook in document.get("webhooks", ()):
            if "caBundle" in webhook["clientConfig"]:
                webhook["clientConfig"]["caBundle"] = "present"
        text = re.sub(r"checksum/config: .*", "checksum/config: any", yaml.safe_dump(document))
        found[document["kind"], metadata["name"]] = yaml.safe_load(text)
    return found


@pytest.mark.parametrize("helm", ["helm", "helm3"])
@pytest.mark.parametrize("recording", RECORDED)
def test_renders_what_the_real_chart_rendered(shared: Path, charts: Path, recording: str, helm: str) -> None:
    release, namespace, values = RECORDED[recording]
    recordings = shared / "recordings"
    if values[:1] == ["-f"]:
        options = ["-f", str(recordings / values[1])]
    else:
        options = [word for value in values for word in ("--set", value)]
    name = "mariadb-cluster" if release == "mariadb" else release
    (chart,) = (file for file in charts.glob(f"{name}-[0-9]*.tgz"))
    made = rendered(helm, chart, release, namespace, *options)
    real = list(yaml.safe_load_all((recordings / f"{recording}.yaml").read_text(encoding="utf-8")))
    assert comparable(made) == comparable(real)


def test_carries_the_real_definitions(shared: Path, charts: Path) -> None:
    for chart, folder in (("mariadb-operator-crds-26.6.0", "mariadb"), ("slurm-operator-crds-1.2.1", "slinky")):
        made = rendered("helm", charts / f"{chart}.tgz", "crds", "default")
        files = sorted((shared / "crds" / folder).glob("*.yaml"))
        real = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files]
        assert comparable(made) == comparable(real)


def test_each_component_has_its_chart_at_the_version_of_the_catalog(charts: Path) -> None:
    catalog = Catalog.load(RECIPES)
    charts_of = {component: catalog.chart(component)[0] for component in catalog.components}
    expected = {f"{name}-{version}.tgz" for one, name in charts_of.items() if name for version in catalog.versions(one)}
    assert "kube-prometheus-stack-83.7.0.tgz" in expected, "an overlay may pin another version"
    assert {file.name for file in charts.iterdir()} == expected


@pytest.mark.parametrize("helm", ["helm", "helm3"])
def test_makes_each_object_that_a_health_check_asks_for(charts: Path, helm: str) -> None:
    """With the values that the catalog gives; what operators make of custom resources is theirs."""
    catalog = Catalog.load(RECIPES)
    operators = {"slurm-accounting-mariadb", "slinky-slurm"}
    for component in catalog.components.keys() - operators:
        name, version = catalog.chart(component)
        if not name:
            continue
        values = RECIPES / "components" / component / "values.yaml"
        namespace = catalog.components[component]["helm"]["defaultNamespace"]
        made = rendered(
            helm, charts / f"{name}-{version}.tgz", component, namespace, "-f", str(values), "--include-crds"
        )
        names = {(one["kind"], one["metadata"]["name"]) for one in made}
        labels = {(one["kind"], *item) for one in made for item in one["metadata"].get("labels", {}).items()}
        for wanted in catalog.asserted[component]:
            metadata = wanted["metadata"]
            if wanted["kind"] == "ConfigMap" or f"name: {metadata.get('name')}\n" in catalog.manifests[component]:
                continue  # another chart's, or in a manifest of the component itself
            asked = {(wanted["kind"], metadata["name"])} if "name" in metadata else set()
            assert asked <= names, component
            assert {(wanted["kind"], *item) for item in metadata.get("labels", {}).items()} <= labels, component


@pytest.mark.parametrize("helm", ["helm", "helm3"])
def test_takes_the_values_of_the_catalog(charts: Path, helm: str) -> None:
    values = RECIPES / "components" / "slinky-slurm" / "values.yaml"
    made = rendered(
        helm, charts / "slurm-1.2.1.tgz", "slinky-slurm", "slurm", "-f", str(values), "--set", "accounting.enabled=true"
    )
    found = {(one["kind"], one["metadata"]["name"]): one for one in made}
    assert found["Accounting", "slinky-slurm"]["spec"]["storageConfig"]["passwordKeyRef"]["name"] == "mariadb-password"
    controller = found["Controller", "slinky-slurm"]["spec"]
    assert controller["extraConf"] == "ScronParameters=enable\nSelectType=select/cons_tres"
    assert controller["configFileRefs"] == [{"name": "slinky-slurm-config-extra"}]
    login = found["LoginSet", "slinky-slurm-login-slinky"]["spec"]
    assert login["login"]["image"].startswith("ghcr.io/slinkyproject/login-pyxis:26.05-ubuntu26.04@sha256:")
    assert login["template"]["spec"]["volumes"][0]["configMap"]["name"] == "slinky-slurm-enroot-config"
    workers = found["NodeSet", "slinky-slurm-worker-slinky"]["spec"]
    assert workers["partition"] == {"enabled": True, "config": "Default=YES MaxTime=24:00:00 State=UP"}


def test_is_the_same_each_time(charts: Path, tmp_path: Path) -> None:
    def digests(folder: Path) -> dict[str, str]:
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}

    assert digests(charts_folder(tmp_path)) == digests(charts)


def test_real_charts_take_the_place_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "slurm-1.2.1.tgz").write_bytes(b"the real one")
    monkeypatch.setenv("AICR_TEST_CHARTS", str(real))
    folder = charts_folder(tmp_path / "charts")
    assert (folder / "slurm-1.2.1.tgz").read_bytes() == b"the real one"
    assert (folder / "mariadb-operator-26.6.0.tgz").stat().st_size > 1000
