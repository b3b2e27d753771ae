# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``README.md`` of a bundle: what is in it, how to install it, who owns what, how to take it away again."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from ..artifacts.recipe import AccountingMode
from ..ownership.accounting import FIELD, SLURM
from ..ownership.connection import STORAGE
from .deployers import Deployer, Plan
from .layout import Folder, Phase

_ACCOUNTING = {
    AccountingMode.DISABLED: """\
Slurm runs without accounting: no slurmdbd, no database.
""",
    AccountingMode.CUSTOMER_MANAGED: f"""\
Slurm records its jobs in a database of yours. The bundle connects to it by `{STORAGE}` of `{SLURM}` and
brings no database.

- The bundle holds no password, only the name of a Secret in the namespace of `{SLURM}`: make that Secret first.
- The database has to exist, and the user needs all rights on it, those to create tables included.
- Backup, upgrades and monitoring of the database are yours.
""",
    AccountingMode.AICR_PROVIDED: """\
The bundle installs MariaDB operator and database, and connects Slurm to them. This is an installation, not a managed
service:

- It pins versions, order, the connection of both ends, and lets the operator make the passwords.
- Yours are size and StorageClass of the volume, backups and the test of a restore, monitoring, the rotation of
  passwords, and when to install a newer bundle.

No value of the connection can be overridden: both ends would have to change at once.
""",
}

_HELM = """\
    ./deploy.sh

It needs Helm 3 or 4. `KUBECONFIG` and `KUBE_CONTEXT` choose the cluster; `./deploy.sh --help` tells the options. Run
it again after a failure: what is there is upgraded in place. One release alone: `NNN-name/install.sh`, with `--dry-run`
to look first.
"""
_OPEN = """
Values that stand open are in `cluster-values.yaml` of their folders; fill them in before you install.
"""
_ARGOCD = """\
1. Commit this directory as the root of the repository and branch that `app-of-apps.yaml` names.
2. `kubectl apply -n argocd -f app-of-apps.yaml`

Applications are synced in waves. Argo CD waits for the health of one wave before the next only if it knows how healthy
an Application is: check that `argocd-cm` has `resource.customizations.health.argoproj.io_Application`.
"""

_AFTER = """\
What charts leave behind on purpose stays: PersistentVolumeClaims, Secrets that operators made, some
CustomResourceDefinitions. Remove these by hand, and only when their data is no longer needed.
"""


def readme(plan: Plan, deployer: Deployer) -> str:
    """The text, a function of the plan alone."""
    return "\n".join(_sections(plan, deployer))


def _sections(plan: Plan, deployer: Deployer) -> Iterator[str]:
    recipe = plan.recipe
    yield "# Bundle\n"
    if recipe.criteria:
        stated = ", ".join(f"{axis} {value}" for axis, value in recipe.criteria.stated().items())
        yield f"For {stated or 'any cluster'}, deployed by {deployer.name}.\n"
    yield "## Contents\n"
    yield "| Folder | Release | Namespace | Chart | Version |\n|---|---|---|---|---|\n" + "".join(
        map(_row, plan.folders)
    )
    yield "## Install\n"
    yield _HELM if deployer.takes_dynamic else _ARGOCD
    if any(folder.cluster_values for folder in plan.folders):
        yield _OPEN
    yield "## Verify\n"
    yield (
        "    sha256sum --check --quiet checksums.txt\n\nThis finds changed and missing files; the action "
        "`aicr.runtime.bundle_verify` finds files and links that were added as well.\n"
    )
    if recipe.accounting_mode:
        yield "## Slurm accounting\n"
        yield f"`{FIELD}` is `{recipe.accounting_mode.value}`, chosen with the recipe and not to be changed here.\n"
        yield _ACCOUNTING[recipe.accounting_mode]
    yield "## Uninstall\n"
    yield from _uninstall(plan, deployer)
    yield _AFTER


def _row(folder: Folder) -> str:
    chart = folder.chart
    source = f"`{chart.address if chart.is_oci else f'{chart.repository} {chart.name}'}`" if chart else "manifests"
    return f"| {folder.path} | {folder.release} | {folder.namespace} | {source} | {chart.version if chart else ''} |\n"


def _uninstall(plan: Plan, deployer: Deployer) -> Iterator[str]:
    if deployer.takes_dynamic:
        yield "In reverse order:\n"
        yield "".join(
            f"    helm uninstall {quote(folder.release)} --namespace {quote(folder.namespace)}{_wait(folder)}\n"
            for folder in reversed(plan.folders)
        )
    else:
        yield (
            "Delete the Applications in reverse order of their waves. Without the finalizer of `cascade_delete`\n"
            "Argo CD leaves the objects of an Application in the cluster.\n"
        )


def _wait(folder: Folder) -> str:
    """An operator has to be there until its last resource is gone."""
    return "" if folder.phase is Phase.PRE else " --wait"
