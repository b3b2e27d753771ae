# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder of chart archives, one for each chart of the catalog, byte for byte the same from the same files."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path

import yaml

from .generated import Catalog

_HERE = Path(__file__).parent
_TEMPLATE = ".tpl"
"""What a template is called besides here: it is no YAML before Helm has rendered it."""
_CRDS = {"mariadb-operator-crds": "mariadb", "slurm-operator-crds": "slinky"}
_APP_VERSIONS = {"slurm": "26.05", "mariadb-cluster": "0.0.0"}
"""Where it is not the chart's version: operators.md section 4."""


def charts_folder(dest: Path) -> Path:
    """Write every chart of the catalog as `<chart>-<version>.tgz`, and those in AICR_TEST_CHARTS over them.

    :returns: `dest`, made if it is not there.
    """
    dest.mkdir(parents=True, exist_ok=True)
    catalog = Catalog.load(_HERE.parents[2] / "recipes")
    written: set[tuple[str, str]] = set()
    for component in catalog.components:
        chart, _default = catalog.chart(component)
        versions = catalog.versions(component) if chart else ()
        for version in versions:
            if (chart, version) in written:
                continue  # the first component has it as it is; others fit it to a platform
            written.add((chart, version))
            files = {"Chart.yaml": _metadata(chart, version)} | _files(catalog, component, chart)
            (dest / f"{chart}-{version}.tgz").write_bytes(_archive(chart, files))
    real = os.environ.get("AICR_TEST_CHARTS")
    for archive in sorted(Path(real).glob("*.tgz")) if real else ():
        shutil.copy(archive, dest)
    return dest


def _files(catalog: Catalog, component: str, chart: str) -> Mapping[str, str]:
    if chart in _CRDS:
        crds = sorted((_HERE / "crds" / _CRDS[chart]).glob("*.yaml"))
        return {f"templates/{file.name}": file.read_text(encoding="utf-8") for file in crds}
    folder = _HERE / "handmade" / chart
    files = {
        str(file.relative_to(folder)).removesuffix(_TEMPLATE): file.read_text(encoding="utf-8")
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
    return files if "values.yaml" in files else {**catalog.templates(component), **files}


def _metadata(chart: str, version: str) -> str:
    app = _APP_VERSIONS.get(chart, version)
    return yaml.safe_dump({"apiVersion": "v2", "name": chart, "version": version, "appVersion": app})


def _archive(chart: str, files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        # Helm reads Chart.yaml wherever it stands; first is where others put it.
        for name in sorted(files, key=lambda name: (name != "Chart.yaml", name)):
            content = files[name].encode()
            entry = tarfile.TarInfo(f"{chart}/{name}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()
