# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helm: one release per folder, installed by ``deploy.sh`` in order (spec/engine.md 4.5)."""

from __future__ import annotations

from collections.abc import Iterator

from ...atomic import FileContent
from ...errors import AicrError, invalid
from ..layout import Chart
from . import scripts
from .deployer import Deployer, DeployerOptions, Dumper, Plan, chart_files, text_file


class Helm(Deployer):
    """Folders with values and a script each, and one script over all of them."""

    name = "helm"
    entrypoint = "deploy.sh"
    takes_dynamic = True
    keeps_recipe = True

    @classmethod
    def read(cls, options: DeployerOptions, problems: list[AicrError]) -> Helm:
        """Helm takes no options; ``serial`` is what it does anyway."""
        for name, text in (("repo", options.repo), ("target_revision", options.target_revision)):
            if text:
                problems.append(
                    invalid(
                        f"{name}: means nothing to the deployer helm, whose bundle is installed from where it lies",
                        "use deployer argocd, or drop it",
                        option=name,
                        deployer=cls.name,
                    )
                )
        if options.argocd:
            problems.append(
                invalid(
                    f"argocd: {', '.join(sorted(options.argocd))} mean nothing to the deployer helm",
                    "use deployer argocd, or drop them",
                    deployer=cls.name,
                )
            )
        return cls()

    def files(self, plan: Plan) -> Iterator[tuple[str, FileContent]]:
        dump = Dumper()
        for folder in plan.folders:
            yield from chart_files(folder, dump)
            yield f"{folder.path}/cluster-values.yaml", dump(folder.cluster_values)
            if folder.chart:
                yield f"{folder.path}/upstream.env", text_file(environment(folder.chart))
            yield f"{folder.path}/install.sh", text_file(scripts.install(folder), executable=True)
        yield self.entrypoint, text_file(scripts.deploy(plan.folders), executable=True)


def environment(chart: Chart) -> str:
    """``upstream.env``: an OCI chart is its whole address, any other a name in a repository."""
    name, repository = (chart.address, "") if chart.is_oci else (chart.name, chart.repository)
    pairs = (("CHART", name), ("REPO", repository), ("VERSION", chart.version))
    return "".join(f"{key}={_quoted(value)}\n" for key, value in pairs)


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'"
