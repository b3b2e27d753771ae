# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which programs a bed has: for which images, and from which packages."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Unbuildable
from ansible_collections.aicr.runtime.tests.cluster.bed.debian import PackageSet, archive
from ansible_collections.aicr.runtime.tests.cluster.bed.images import find, table


@pytest.mark.parametrize(
    ("reference", "pattern"),
    [
        ("mariadb:11.8.8", "*mariadb[:@]*"),
        ("registry.example:5000/mariadb-operator/mariadb@sha256:0", "*mariadb[:@]*"),
        ("ghcr.io/mariadb-operator/mariadb-operator:26.6.0", "*mariadb-operator[:@]*"),
        ("ghcr.io/slinkyproject/slurm-operator:1.2.1", "*slurm-operator[:@]*"),
        ("ghcr.io/slinkyproject/slurm-operator-webhook:1.2.1", "*slurm-operator-webhook[:@]*"),
        ("ghcr.io/slinkyproject/login-pyxis:26.05-ubuntu26.04", "*login*[:@]*"),
        ("ghcr.io/slinkyproject/slurmrestd:26.05-ubuntu26.04", None),
        ("docker.io/library/alpine:latest", None),
    ],
)
def test_which_program_stands_for_an_image(reference: str, pattern: str | None) -> None:
    found = find(reference)
    assert (found and found.pattern) == pattern


def test_programs_in_place_of_the_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their flags are those that they ran with when they were recorded; of webhooks there is no other."""
    monkeypatch.setenv("AICR_TEST_SLURM_OPERATOR", "/opt/slurm-operator")
    monkeypatch.setenv("AICR_TEST_MARIADB_OPERATOR", "/opt/mariadb-operator")
    table.cache_clear()
    try:
        started = {}
        for name in ("slurm-operator", "slurm-operator-webhook", "mariadb-operator"):
            image = find(f"{name}:1")
            assert image and image.start
            started[name] = image.start("127.128.0.1", [])
            webhook = image.start("127.128.0.1", ["webhook", "--port=9443"])
        assert started["slurm-operator"] == [
            "/opt/slurm-operator",
            "--metrics-addr=0",
            "--health-addr=127.128.0.1:8081",
        ]
        assert started["slurm-operator-webhook"][-1].endswith(".operators.slurm_webhook")
        assert started["mariadb-operator"][0] == "/opt/mariadb-operator"
        assert webhook[-2:] == ["webhook", "--port=9443"] and webhook[-3].endswith(".operators.mariadb")
    finally:
        table.cache_clear()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("sources.list", "# deb http://old.example/debian x main\ndeb [arch=amd64] http://deb.example/debian x main\n"),
        ("sources.list.d/debian.sources", "Types: deb\nURIs: http://deb.example/debian/\nSuites: x\n"),
        (
            "sources.list.d/b.list",
            "deb http://x.example/debian-security x main\ndeb\thttp://deb.example/debian x main",
        ),
    ],
)
def test_the_archive_is_that_of_this_machine(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list.d/a.sources.off").write_text("URIs: http://off.example/debian\n")
    (tmp_path / "sources.list.d/a.sources").write_text("URIs: http://deb.example/debian-security\n")
    with pytest.raises(Unbuildable, match="no source of apt"):
        archive(tmp_path)
    (tmp_path / file).write_text(text)
    assert archive(tmp_path) == "http://deb.example/debian"


def test_packages_that_are_too_old_are_refused(tmp_path: Path) -> None:
    def package(version: str) -> Path:
        control = tmp_path / version / "DEBIAN" / "control"
        control.parent.mkdir(parents=True)
        more = "Architecture: all\nMaintainer: me\nDescription: none\n"
        control.write_text(f"Package: slurmdbd\nVersion: {version}\n{more}")
        target = tmp_path / f"{version}.deb"
        subprocess.run(["dpkg-deb", "--build", tmp_path / version, target], check=True, capture_output=True)
        return target

    wanted = PackageSet("tree", ("slurmdbd",), {"slurmdbd": "26.05"})
    wanted.check([package("26.05.5-1")])
    with pytest.raises(Unbuildable, match=r"slurmdbd 26\.05 or newer is needed, and Debian forky has 22\.05\.8-4"):
        wanted.check([package("22.05.8-4")])
    with pytest.raises(Unbuildable, match="has none"):
        wanted.check([])
