# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real sacctmgr in a Job from the login image, as Slurm's own user: what is accounted goes through slurmdbd."""

from __future__ import annotations

from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.test_bed_images import LOGIN, job

_SCRIPT = """
mkdir /tmp/slurm && cp /etc/slurm/* /tmp/slurm && chmod 600 /tmp/slurm/*
export SLURM_CONF=/tmp/slurm/slurm.conf
sackd -D >/tmp/sackd 2>&1 & until test -S /run/slurm/sack.socket; do sleep 0.1; done
sacctmgr -n -P "$@"; code=$?
kill %1
exit $code
"""
_SLURM = {"runAsUser": 401, "runAsGroup": 401, "fsGroup": 401}


def sacctmgr(bed: Bed, namespace: str, *arguments: str, name: str = "slinky-slurm") -> list[str]:
    """The lines that it writes, without headings.

    :param name: of the Controller whose slurmdbd it is, which the operator's own names begin with.
    """
    sources = [{"configMap": {"name": f"{name}-config"}}, {"secret": {"name": f"{name}-auth-slurm"}}]
    mounts = [{"name": "etc", "mountPath": "/etc/slurm"}, {"name": "run", "mountPath": "/run/slurm"}]
    code, said = job(
        bed.api,
        namespace,
        LOGIN,
        ["bash", "-c", _SCRIPT, "sacctmgr", *arguments],
        container={"volumeMounts": mounts},
        securityContext=_SLURM,
        volumes=[{"name": "etc", "projected": {"sources": sources}}, {"name": "run", "emptyDir": {}}],
    )
    assert code == 0, said
    return said.splitlines()
