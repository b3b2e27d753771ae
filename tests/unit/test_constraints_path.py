# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A path names one reading; one that no collector can emit is refused where it is loaded (spec/engine.md 3.1, 3.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints import (
    ConstraintPath,
    Predicate,
    addressability_problem,
    nearest,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("K8s.server.version", ConstraintPath("K8s", "server", "version")),
        ("K8s.policy.driver.version", ConstraintPath("K8s", "policy", "driver.version")),
        ("OS.sysctl./proc/sys/kernel/osrelease", ConstraintPath("OS", "sysctl", "/proc/sys/kernel/osrelease")),
        ("OS.grub.a[0].b", ConstraintPath("OS", "grub", "a[0].b")),
        ("SystemD.containerd.service.ActiveState", ConstraintPath("SystemD", "containerd.service", "ActiveState")),
        ("NetworkTopology.pfs[0].rail", ConstraintPath("NetworkTopology", "pfs", "rail", 0)),
        ("K8s.slinky-slurm[name=a.b].id", ConstraintPath("K8s", "slinky-slurm", "id", Predicate("name", "a.b"))),
        ("K8s.slinky-slurm[name=a=b].id", ConstraintPath("K8s", "slinky-slurm", "id", Predicate("name", "a=b"))),
        ("K8s.slinky-slurm[name=].id", ConstraintPath("K8s", "slinky-slurm", "id", Predicate("name", ""))),
    ],
)
def test_reads_a_path_and_writes_it_back(name: str, path: ConstraintPath) -> None:
    assert ConstraintPath.parse(name) == path
    assert str(path) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "K8s",
        "K8s.nope",
        "K8s.server.",
        "K8s..version",
        " K8s.server.version",
        "K8s.server.version ",
        "k8s.server.version",
        "Kubernetes.server.version",
        "NetworkTopology.pfs[0.rail",
        "NetworkTopology.pfs[0]rail",
        "NetworkTopology.pfs[-1].rail",
        "NetworkTopology.pfs[].rail",
        "NetworkTopology.pfs[rail].rail",
        "NetworkTopology.pfs[=1].rail",
        "NetworkTopology.[0].rail",
        "SystemD.containerd",
    ],
)
def test_refuses_a_malformed_path(name: str) -> None:
    with pytest.raises(AicrError) as refused:
        ConstraintPath.parse(name)
    assert refused.value.code is Code.INVALID_REQUEST
    assert refused.value.hint


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("K8s.server.version", ">= 1.32.4"),
        ("K8s.policy.anything.at.all", "true"),
        ("OS.release.VERSION_ID", "24.04"),
        ("OS.release.REDHAT_BUGZILLA_PRODUCT", "x"),
        ("OS.sysctl./proc/sys/kernel/osrelease", ">= 6.8"),
        ("SystemD.kubelet.service.ActiveState", "active"),
        ("NetworkTopology.pfs[99].rail", "0"),
        ("K8s.slinky-slurm[kind=Controller].external", "false"),
        ("GPU.hardware.gpu-count", ">= 8"),
        ("NodeTopology.gpu-nodes.label", "!gke-no-default-nvidia-gpu-device-plugin"),
        ("NodeTopology.gpu-nodes.label", "cloud.google.com/pool="),
    ],
)
def test_a_reading_that_a_collector_emits_is_addressable(name: str, value: str) -> None:
    assert addressability_problem(name, value) is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("K8s.server.verison", 'did you mean "version"?'),
        ("OS.release.ID2", 'did you mean "ID"?'),
        ("GPU.smi.driver", 'unknown subtype "smi"'),
        ("K8s.sever.version", 'did you mean "server"?'),
        ("OS.relaese.ID", 'did you mean "release"?'),
        ("GPUs.hardware.model", 'did you mean "GPU"?'),
        ("K8s.server.uptime", "known: goVersion, platform, version"),
        ("NetworkTopology.pfs.rail", "requires an item selector, e.g. NetworkTopology.pfs[0].rail"),
        ("NetworkTopology.pfs[0].rial", 'did you mean "rail"?'),
        ("K8s.slinky-slurm[kindd=Controller].id", 'unknown item predicate key "kindd"'),
        ("K8s.server[0].version", "has no items"),
        ("SystemD.kubelet.service[0].ActiveState", "has no items"),
        ("NodeTopology.gpu-nodes.labels", 'unknown subtype "gpu-nodes"'),
        ("NodeTopology.label[0].key", "has no items"),
    ],
)
def test_a_typo_is_refused_by_name_with_what_was_meant(name: str, said: str) -> None:
    problem = addressability_problem(name, ">= 1")
    assert problem is not None
    assert problem.code is Code.INVALID_REQUEST
    assert said in str(problem)
    assert name in problem.message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("K8s.server.version", ">="),
        ("K8s.server.version", ">= latest"),
        ("NodeTopology.gpu-nodes.label", ">= 1"),
        ("NodeTopology.gpu-nodes.label", "a//b=c"),
        ("NodeTopology.gpu-nodes.label", "!"),
        ("NodeTopology.gpu-nodes.label", "!a//b"),
        ("NodeTopology.gpu-nodes.label", "a=b c"),
        ("NodeTopology.gpu-nodes.label", "key"),
    ],
)
def test_an_expression_that_can_never_be_evaluated_is_refused_with_its_path(name: str, value: str) -> None:
    problem = addressability_problem(name, value)
    assert problem is not None
    assert name in problem.message


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("verison", ["version", "platform"], "version"),
        ("ab", ["ax", "ay"], "ax"),
        ("abc", ["xyz"], None),
        ("abcd", ["ab"], "ab"),
        ("x", [], None),
    ],
)
def test_at_most_two_changes_are_a_misspelling_and_the_first_in_alphabet_wins(
    word: str, known: list[str], meant: str | None
) -> None:
    assert nearest(word, known) == meant


@given(st.text(alphabet="K8s.OSGPU[]=01ab /", max_size=20), st.text(max_size=8))
def test_any_name_is_judged_without_a_crash(name: str, value: str) -> None:
    problem = addressability_problem(name, value)
    assert problem is None or problem.code is Code.INVALID_REQUEST


@given(st.text(alphabet="abc.d/_", min_size=1, max_size=12), st.sampled_from(["sysctl", "grub", "kmod"]))
def test_the_first_dot_ends_the_subtype(key: str, subtype: str) -> None:
    assert ConstraintPath.parse(f"OS.{subtype}.{key}") == ConstraintPath("OS", subtype, key)
