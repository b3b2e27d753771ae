# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`deploy.sh` and `install.sh` as they run, with a stand-in for helm that writes down how it was called."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import write_bundle
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.deployers import scripts
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.deployers.helm import environment
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.layout import Chart, Folder, Phase

from .conftest import BundleOf

HELM = """\
#!/usr/bin/env bash
echo "$*" >> "$CALLS"
[[ "$*" == *"--install ${FAILING:-nobody} "* ]] || exit 0
[[ "$(grep -c -- "--install ${FAILING} " "$CALLS")" -gt "${TIMES:-999}" ]]
"""
COMPONENTS = ["nfd", "cert-manager", "prometheus-operator-crds"]


class Bench:
    """A bundle on disk and a place where helm and sleep are stand-ins."""

    def __init__(self, root: Path) -> None:
        self.bundle, self.calls = root / "bundle", root / "calls"
        self.environment = {"PATH": f"{root / 'bin'}:{os.environ['PATH']}", "CALLS": str(self.calls), "HOME": str(root)}
        (root / "bin").mkdir()
        for name, text in (("helm", HELM), ("sleep", '#!/usr/bin/env bash\necho "sleep $1" >> "$CALLS"\n')):
            (root / "bin" / name).write_text(text)
            (root / "bin" / name).chmod(0o755)

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.bundle / "deploy.sh"), *arguments],
            env={**self.environment, **environment},
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def lines(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    @property
    def releases(self) -> list[str]:
        return [line.split()[2] for line in self.lines if line.startswith("upgrade")]


@pytest.fixture
def bench(tmp_path: Path, bundle_of: BundleOf) -> Bench:
    found = Bench(tmp_path)
    write_bundle(bundle_of("eks", components=COMPONENTS), found.bundle)
    return found


def test_releases_are_installed_in_order_and_awaited(bench: Bench) -> None:
    run = bench.run()
    assert run.returncode == 0, run.stderr
    assert bench.releases == ["cert-manager", "nfd", "prometheus-operator-crds"]
    assert all("--wait --timeout 10m" in line for line in bench.lines)
    first = bench.lines[0]
    assert first.startswith("upgrade --install cert-manager cert-manager --namespace cert-manager --create-namespace")
    assert "--repo https://charts.jetstack.io --version v" in first
    assert "--values values.yaml --values cluster-values.yaml" in first


def test_without_waiting_nothing_is_awaited(bench: Bench) -> None:
    assert bench.run("--no-wait").returncode == 0
    assert bench.releases
    assert not [line for line in bench.lines if "--wait" in line]


def test_a_context_and_a_timeout_are_passed_on(bench: Bench) -> None:
    bench.run(KUBE_CONTEXT="my cluster", HELM_TIMEOUT="1h")
    assert all("--kube-context my cluster" in line and "--timeout 1h" in line for line in bench.lines)


def test_a_release_is_tried_again_after_growing_pauses(bench: Bench) -> None:
    assert bench.run(FAILING="nfd", TIMES="3").returncode == 0
    assert [line for line in bench.lines if line.startswith("sleep")] == ["sleep 5", "sleep 20", "sleep 45"]
    assert bench.releases == ["cert-manager", *["nfd"] * 4, "prometheus-operator-crds"]


def test_a_release_that_keeps_failing_stops_the_deployment(bench: Bench) -> None:
    run = bench.run("--retries", "1", FAILING="nfd")
    assert run.returncode == 1
    assert bench.releases == ["cert-manager", "nfd", "nfd"]
    assert "nfd could not be installed" in run.stderr


def test_with_best_effort_the_others_go_on(bench: Bench) -> None:
    run = bench.run("--best-effort", "--retries=0", FAILING="cert-manager")
    assert run.returncode == 0
    assert bench.releases == ["cert-manager", "nfd", "prometheus-operator-crds"]
    assert "not installed: 001-cert-manager" in run.stderr


@pytest.mark.parametrize("arguments", [["--wibble"], ["--retries"], ["--retries", "x"], ["--retries=-1"], ["nfd"]])
def test_what_is_no_option_is_refused_before_anything_runs(bench: Bench, arguments: list[str]) -> None:
    run = bench.run(*arguments)
    assert run.returncode == 2
    assert not bench.lines


def test_help_is_all_that_it_says(bench: Bench) -> None:
    run = bench.run("--help")
    assert run.returncode == 0
    assert all(option in run.stdout for option in ("--no-wait", "--best-effort", "--retries"))
    assert not bench.lines


def test_a_chart_that_outlasts_a_wait_is_not_awaited(bench: Bench, bundle_of: BundleOf) -> None:
    shutil.rmtree(bench.bundle)
    write_bundle(bundle_of("eks", components=["kai-scheduler", "nfd"]), bench.bundle)
    assert bench.run().returncode == 0
    waits = {line.split()[2]: "--wait" in line for line in bench.lines}
    assert waits == {"kai-scheduler": False, "nfd": True}


def test_a_chart_that_holds_its_namespace_takes_it_over() -> None:
    def script(kind: str) -> str:
        return scripts.install(
            Folder(1, "c", Phase.PRE, "c", 0, {}, {}, templates={"templates/a.yaml": f"apiVersion: v1\nkind: {kind}\n"})
        )

    assert "--take-ownership" in script("Namespace")
    assert "--take-ownership" not in script("ConfigMap")


def test_scripts_are_bash_without_fault(tmp_path: Path, bundle_of: BundleOf) -> None:
    write_bundle(bundle_of("gb200"), tmp_path / "bundle")
    files = [str(path) for path in sorted((tmp_path / "bundle").rglob("*.sh"))]
    for file in files:
        subprocess.run(["bash", "-n", file], check=True)
    if shutil.which("shellcheck"):
        subprocess.run(["shellcheck", "--external-sources", *files], check=True)


@pytest.mark.parametrize(
    "word", ["a\ntouch PWNED\n#", "$(touch PWNED)", "`touch PWNED`", "'; touch PWNED; '", "a b", "-x"]
)
def test_no_text_of_a_recipe_is_more_than_a_word_of_a_script(tmp_path: Path, bench: Bench, word: str) -> None:
    """Admission lets no such text in; if it did, it would be a wrong word, and nothing else."""
    folder = Folder(1, word, Phase.PRIMARY, word, 0, {}, {}, Chart(word, word, word))
    (tmp_path / "upstream.env").write_text(environment(Chart(word, word, word)))
    (tmp_path / "install.sh").write_text(scripts.install(folder))
    run = subprocess.run(["bash", "install.sh"], env=bench.environment, cwd=tmp_path, check=False)
    assert run.returncode == 0
    assert not list(tmp_path.rglob("PWNED"))
    assert not [line for line in scripts.install(folder).splitlines() if line.startswith("#") and "PWNED" in line]
    called = bench.calls.read_text()
    assert called.startswith(f"upgrade --install {word} {word} --namespace {word} --create-namespace")
