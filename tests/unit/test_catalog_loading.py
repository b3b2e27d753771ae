# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# ruff: noqa: E501 - one row for each rule
"""A catalog that is not what its author meant does not load: every problem at once, each at its file and line.

Rules: spec/engine.md 1.4, 1.11.6, 2.1, 2.2, 3.2 and section 6; cases N17 and Y1.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import Criteria
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import (
    Catalog,
    overlay_from_document,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

FILES = {
    "registry.yaml": """\
kind: ComponentRegistry
apiVersion: aicr.run/v1alpha2
components:
  - name: alpha
    displayName: Alpha
    valueOverrideKeys: [al]
    helm:
      defaultRepository: https://charts.example.com
      defaultChart: example/alpha
      defaultVersion: "1.2.0"
      defaultNamespace: alpha
    healthCheck:
      assertFile: checks/alpha/health-check.yaml
    manifests:
      - path: components/alpha/manifests/extra.yaml
        when: extra.enabled
    validations:
      - function: CheckSomething
        severity: warning
        conditions:
          service: [eks]
  - name: beta
    displayName: Beta
    helm:
      defaultRepository: https://charts.example.com
      defaultChart: beta
      defaultVersion: v2.0.0
""",
    "overlays/base.yaml": """\
kind: RecipeMetadata
apiVersion: aicr.run/v1alpha2
metadata:
  name: base
spec:
  constraints:
    - name: K8s.server.version
      value: ">= 1.25"
  componentRefs:
    - name: alpha
      valuesFile: components/alpha/values.yaml
""",
    "overlays/eks.yaml": """\
kind: RecipeMetadata
apiVersion: aicr.run/v1alpha2
metadata:
  name: eks
spec:
  criteria:
    service: eks
""",
    "overlays/h100-eks.yaml": """\
kind: RecipeMetadata
apiVersion: aicr.run/v1alpha2
metadata:
  name: h100-eks
spec:
  base: eks
  criteria:
    service: eks
    accelerator: h100
  mixins:
    - os-ubuntu
  constraints:
    - name: K8s.node.kubelet-version
      value: ">= 1.30"
  componentRefs:
    - name: beta
      version: "2.1"
      valuesFile: components/beta/values-h100.yaml
      manifestFiles:
        - components/alpha/manifests/extra.yaml
      dependencyRefs:
        - alpha
  validation:
    readiness:
      constraints:
        - name: OS.release.ID
          value: ubuntu
    performance:
      checks:
        - bandwidth
      constraints:
        - name: bandwidth-floor
          value: ">= 300"
""",
    "overlays/profiled.yaml": """\
kind: RecipeMetadata
apiVersion: aicr.run/v1alpha3
metadata:
  name: profiled
spec:
  criteria:
    service: aks
  profile:
    name: driver
    default: managed
    values:
      managed:
        advertiser: external
        componentRefs:
          - name: alpha
            overrides:
              driver: true
      own:
        constraints:
          - name: K8s.server.version
            value: ">= 1.30"
        componentRefs:
          - name: alpha
            overrides:
              driver: false
""",
    "mixins/os-ubuntu.yaml": """\
kind: RecipeMixin
apiVersion: aicr.run/v1alpha2
metadata:
  name: os-ubuntu
spec:
  constraints:
    - name: OS.release.VERSION_ID
      value: "24.04"
""",
    "validators/catalog.yaml": """\
kind: ValidatorCatalog
apiVersion: validator.nvidia.com/v1alpha1
metadata:
  name: checks
  version: "1.0.0"
validators:
  - name: health
    phase: deployment
    description: Pods run.
    timeout: 2m
  - name: bandwidth
    phase: performance
    description: Messages are fast.
    timeout: 30m
""",
    "checks/alpha/health-check.yaml": "assert: true\n",
    "components/alpha/values.yaml": "replicas: 1\n",
    "components/alpha/manifests/extra.yaml": "{{- if .Values.extra }}\n",
    "components/beta/values.yaml": "shared: true\nlevel: 1\n",
    "components/beta/values-h100.yaml": "level: 2\n",
}


def lay_out(root: Path, files: dict[str, str] | None = None) -> Path:
    """Write a catalog; without ``files``, the one that is right in everything."""
    for path, text in (FILES if files is None else files).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


LEAF, BASE, EKS = "overlays/h100-eks.yaml", "overlays/base.yaml", "overlays/eks.yaml"
REGISTRY, MIXIN, PROFILED = "registry.yaml", "mixins/os-ubuntu.yaml", "overlays/profiled.yaml"
VALIDATORS = "validators/catalog.yaml"


def test_a_right_catalog_loads(tmp_path: Path) -> None:
    catalog = Catalog.load(lay_out(tmp_path))
    leaf = catalog.overlays["h100-eks"]
    assert list(catalog.overlays) == ["eks", "h100-eks", "profiled"]
    assert list(catalog.mixins) == ["os-ubuntu"]
    assert [overlay.name for overlay in catalog.chain(leaf)] == ["base", "eks", "h100-eks"]
    assert leaf.criteria == Criteria(service="eks", accelerator="h100")
    assert leaf.source == str(tmp_path / LEAF)
    assert [(check.name, check.phase, check.timeout) for check in catalog.validators] == [
        ("health", "deployment", "2m"),
        ("bandwidth", "performance", "30m"),
    ]
    profile = catalog.overlays["profiled"].profile
    assert profile is not None
    assert (profile.name, profile.default, list(profile.values)) == ("driver", "managed", ["managed", "own"])


def test_components_are_found_by_name_and_by_alias(tmp_path: Path) -> None:
    registry = Catalog.load(lay_out(tmp_path)).registry
    assert registry.names == ("alpha", "beta")
    assert registry.by_alias("al") is registry.component("alpha") is registry.by_alias("alpha")
    assert registry.component("al") is None
    assert registry.by_alias("nobody") is None


def test_a_manifest_has_the_rule_that_its_component_states(tmp_path: Path) -> None:
    catalog = Catalog.load(lay_out(tmp_path))
    rule = catalog.manifest_rule("alpha", "components/alpha/manifests/extra.yaml")
    assert rule is not None
    assert rule.when == "extra.enabled"
    assert catalog.manifest_rule("beta", "components/alpha/manifests/extra.yaml") is None
    assert catalog.manifest_rule("nobody", "components/alpha/manifests/extra.yaml") is None


# What is spoilt: in which file which text is replaced by which other; a mark that stands in the line which the error
# names (None: no one line is at fault); the words that it has.
SPOILT = {
    "unknown key": (LEAF, "  mixins:", "  mixin:", "mixin:", 'unknown key "mixin" did you mean "mixins"?'),
    "unknown key of a reference": (LEAF, "      version:", "      enabled: false\n      version:", "enabled:", "enabled"),
    "unknown key of a component": (REGISTRY, "    valueOverrideKeys:", "    valueOverrideKey:", "Key:", "valueOverrideKeys"),
    "unknown key of a mixin": (MIXIN, "spec:", "spec:\n  criteria: {}", "criteria", 'unknown key "criteria"'),
    "unknown key of a check": (VALIDATORS, "    phase: performance", "    phase: performance\n    x: 1", "x: 1", "unknown key"),
    "missing key": (LEAF, "metadata:\n  name: h100-eks\n", "metadata: {}\n", "metadata: {}", 'key "name" is missing'),
    "wrong type": (LEAF, "dependencyRefs:\n        - alpha", "dependencyRefs: alpha", "dependencyRefs:", "must be a list"),
    "no mapping": (EKS, FILES[EKS], "- eks\n", "- eks", "is no RecipeMetadata but a list"),
    "empty file": (EKS, FILES[EKS], "---\n", None, "is no RecipeMetadata but null"),
    "number as version": (LEAF, 'version: "2.1"', "version: 1.30", "version: 1.30", "must be text 1.30 and 1.3 are the same"),
    "number as default version": (REGISTRY, '"1.2.0"', "1.20", "1.20", "must be text"),
    "number as constraint": (MIXIN, '"24.04"', "24.04", "value: 24.04", "must be text quotes"),
    "duplicate key": (LEAF, "  base: eks", "  base: eks\n  base: eks", "  base: eks", 'duplicate key "base"'),
    "two documents": (EKS, "kind:", "---\nkind: x\n---\nkind:", None, "2 documents"),
    "no YAML": (EKS, "spec:", "spec: ]", "spec: ]", "line"),
    "overlay of another kind": (EKS, "kind: RecipeMetadata", "kind: RecipeMetdata", "kind:", 'must be "RecipeMetadata"'),
    "mixin of another kind": (MIXIN, "kind: RecipeMixin", "kind: RecipeMetadata", "kind:", 'must be "RecipeMixin"'),
    "registry of another kind": (REGISTRY, "kind: ComponentRegistry", "kind: Registry", "kind:", 'must be "ComponentRegistry"'),
    "checks of another kind": (VALIDATORS, "kind: ValidatorCatalog", "kind: Checks", "kind:", 'must be "ValidatorCatalog"'),
    "unknown version": (EKS, "aicr.run/v1alpha2", "aicr.run/v9", "apiVersion", "aicr.run/v9"),
    "no version": (EKS, "apiVersion: aicr.run/v1alpha2\n", "", None, "apiVersion"),
    "unknown version of checks": (VALIDATORS, "nvidia.com/v1alpha1", "nvidia.com/v2", "apiVersion", "validator.nvidia.com/v2"),
    "authored configuration": (
        LEAF, "  mixins:", "  configuration: {slurm: {accounting: {mode: disabled}}}\n  mixins:", "configuration:",
        "cannot author configuration slurm_accounting_mode"),
    "authored configuration of a mixin": (MIXIN, "spec:", "configuration: {}\nspec:", "configuration:", "cannot author"),
    "empty name": (EKS, "name: eks", 'name: ""', 'name: ""', "must not be empty"),
    "duplicate overlay": (LEAF, "name: h100-eks", "name: eks", "name: eks", 'overlay "eks" is already defined in overlays/eks.yaml'),
    "duplicate component": (REGISTRY, "name: beta", "name: alpha", "name: alpha", 'component "alpha" is registered twice'),
    "duplicate alias": (
        REGISTRY, "displayName: Beta", "displayName: Beta\n    valueOverrideKeys: [ al ]", "[ al ]",
        '"al" stands for component "alpha"'),
    "name that is an alias": (REGISTRY, "[al]", "[al, beta]", "name: beta", '"beta" stands for component "alpha"'),
    "duplicate check": (VALIDATORS, "name: bandwidth", "name: health", "name: health", 'check "health" stands there twice'),
    "duplicate constraint": (
        LEAF, "- name: K8s.node.kubelet-version", "- name: K8s.server.version\n      value: x\n    - name: K8s.server.version",
        "- name: K8s.server.version", 'constraint "K8s.server.version" stands there twice'),
    "duplicate reference": (
        LEAF, "    - name: beta", "    - name: alpha\n    - name: beta\n    - name: beta", "- name: beta", 'component "beta" is referenced twice'),
    "duplicate mixin in a list": (LEAF, "    - os-ubuntu", "    - os-ubuntu\n    - os-ubuntu", "- os-ubuntu", "listed twice"),
    "duplicate check in a list": (LEAF, "        - bandwidth", "        - bandwidth\n        - bandwidth", "- bandwidth", "listed twice"),
    "duplicate rule": (
        REGISTRY, "    validations:", "      - path: components/alpha/manifests/extra.yaml\n    validations:", "- path:", "two rules"),
    "same criteria": (
        PROFILED, "service: aks", "service: EKS", "criteria:", "for the same criteria(service=eks) as \"eks\" in overlays/eks.yaml"),
    "criteria by nodes": (LEAF, "    accelerator: h100", "    accelerator: h100\n    nodes: 8", "nodes:", "selects no overlay"),
    "misspelt reading": (BASE, "K8s.server.version", "K8s.server.verison", "verison", 'unknown key "verison" "version"'),
    "unknown reading": (LEAF, "K8s.node.kubelet-version", "GPU.smi.driver", "GPU.smi.driver", 'unknown subtype "smi"'),
    "misspelt reading of readiness": (LEAF, "OS.release.ID", "OS.relaese.ID", "OS.relaese.ID", "relaese release"),
    "misspelt reading of a mixin": (MIXIN, "OS.release", "Os.release", "Os.release", "Os.release"),
    "misspelt reading of a profile": (PROFILED, "K8s.server.version", "K8s.servr.version", "K8s.servr", "servr"),
    "expression without a version": (BASE, '">= 1.25"', '">= new"', "K8s.server.version", "new"),
    "empty constraint": (BASE, '">= 1.25"', '""', 'value: ""', "must not be empty"),
    "no base": (BASE, "name: base", "name: ground", None, 'has no overlay "base"'),
    "base with criteria": (BASE, "spec:", "spec:\n  criteria: {service: eks}", "criteria:", "can have no criteria"),
    "base on something": (BASE, "spec:", "spec:\n  base: eks", "base: eks", "can have no base"),
    "base with a circle": (
        BASE, "    - name: alpha", "    - name: alpha\n      dependencyRefs: [alpha]", "componentRefs:", "alpha"),
    "unknown parent": (LEAF, "base: eks", "base: ekz", "base: ekz", 'no overlay "ekz" did you mean "eks"?'),
    "circle of parents": (EKS, "spec:", "spec:\n  base: h100-eks", "base: h100-eks", '"eks" builds on itself by way of "h100-eks"'),
    "unknown mixin": (LEAF, "- os-ubuntu", "- os-ubunto", "- os-ubunto", 'no mixin "os-ubunto" did you mean "os-ubuntu"?'),
    "unknown component": (BASE, "- name: alpha", "- name: alpa", "- name: alpa", 'no component "alpa" did you mean "alpha"?'),
    "unknown dependency": (LEAF, "        - alpha", "        - alfa", "- alfa", 'no component "alfa"'),
    "unknown component of a profile": (PROFILED, "- name: alpha", "- name: alfa", "- name: alfa", 'no component "alfa"'),
    "unknown check": (LEAF, "- bandwidth", "- bandwith", "- bandwith", 'no check "bandwith" did you mean "bandwidth"?'),
    "check of another phase": (LEAF, "- bandwidth", "- health", "- health", '"health" belongs to the phase deployment'),
    "unknown phase": (VALIDATORS, "phase: performance", "phase: speed", "phase: speed", '"speed" is no phase'),
    "absent values file": (LEAF, "values-h100", "values-h200", "values-h200", 'no file "components/beta/values-h200.yaml"'),
    "values file elsewhere": (LEAF, "components/beta/values-h100.yaml", "../../etc/passwd", "valuesFile", "../../etc/passwd"),
    "absent manifest": (LEAF, "manifests/extra", "manifests/other", "- components/alpha", "manifests/other.yaml"),
    "absent manifest of a component": (REGISTRY, "manifests/extra", "manifests/other", "- path:", "manifests/other.yaml"),
    "absent health check": (REGISTRY, "health-check.yaml", "health.yaml", "assertFile", "checks/alpha/health.yaml"),
    "reserved name": (REGISTRY, "name: beta", "name: deployer", "name: deployer", '"deployer" names no component'),
    "reserved alias": (REGISTRY, "[al]", "[deployer]", "[deployer]", '"deployer" names no component'),
    "name that is no folder": (REGISTRY, "name: beta", "name: ../beta", "name: ../beta", "../beta no folder and no Helm release"),
    "reference that is no folder": (LEAF, "- name: beta", "- name: Beta", "- name: Beta", "Beta no folder and no Helm release"),
    "empty version": (REGISTRY, "v2.0.0", '""', 'Version: ""', "pin a version"),
    "version v": (REGISTRY, "v2.0.0", "v", "Version: v", "pin a version"),
    "padded version": (REGISTRY, "v2.0.0", '" v2.0.0"', '" v2.0.0"', "blanks"),
    "chart and kustomization": (
        REGISTRY, "displayName: Beta", "displayName: Beta\n    kustomize: {defaultSource: https://git.example.com/x}",
        "kustomize:", "both a chart and a kustomization"),
    "condition on no criterion": (REGISTRY, "service: [eks]", "servce: [eks]", "servce", '"servce" is no criterion'),
    "default chart that is none": (REGISTRY, "defaultChart: beta", 'defaultChart: "b; id"', "defaultChart", "b; id no name of a chart"),
    "default address that is none": (REGISTRY, "https://charts.example.com\n      defaultChart: beta", "file:///etc\n      defaultChart: beta",
                                     "file:", "file:///etc no address"),
    "default version with a blank": (REGISTRY, "v2.0.0", '"v2.0.0 "', "v2.0.0", '"v2.0.0 " none'),
    "default version with a line": (REGISTRY, "v2.0.0", '"v2.0.0\\n# x"', "v2.0.0", "defaultVersion none"),
    "default namespace that is none": (REGISTRY, "defaultNamespace: alpha", "defaultNamespace: a_b", "a_b", "a_b no name of a namespace"),
    "kustomization that leads out": (
        REGISTRY, "displayName: Beta", "displayName: Beta\n    kustomize: {defaultPath: ../../x, defaultTag: v1}", "kustomize:", "../../x no folder"),
    "rule for a manifest that is none": (REGISTRY, "- path: components/alpha", "- path: ../components/alpha", "- path:", "no file of a catalog"),
    "values file that leads out": (BASE, "valuesFile: components", "valuesFile: ../components", "valuesFile", "no file of a catalog"),
    "values from a document of the catalog": (BASE, "components/alpha/values.yaml", "registry.yaml",
                                              "valuesFile", "registry.yaml document of the catalog itself"),
    "version that is a line": (BASE, "- name: alpha", '- name: alpha\n      version: "1.0\\n#"', "version", "1.0 none"),
    "criterion that is no word": (EKS, "service: eks", 'service: "eks\\n# x"', "service:", "criterion"),
    "unknown severity": (REGISTRY, "severity: warning", "severity: fatal", "severity:", "fatal"),
    "profile on the plain track": (PROFILED, "v1alpha3", "v1alpha2", "apiVersion", "declares spec.profile v1alpha3"),
    "strict track without profile": (EKS, "v1alpha2", "v1alpha3", "apiVersion", "no spec.profile v1alpha2"),
    "default that is no value": (PROFILED, "default: managed", "default: maneged", "default:", '"maneged" managed, own'),
    "values that differ in case": (PROFILED, "      own:", "      Managed:", "values:", "differ in case"),
    "profile that disables": (PROFILED, "driver: true", "enabled: true", "enabled: true", "cannot switch a component"),
    "unknown advertiser": (PROFILED, "advertiser: external", "advertiser: us", "advertiser:", '"us"'),
    "profile of a mixin": (MIXIN, "spec:", "spec:\n  profile: {}", "profile:", 'unknown key "profile"'),
}  # fmt: skip


@pytest.mark.parametrize("spoilt", SPOILT)
def test_what_is_wrong_is_named_at_its_file_and_line(tmp_path: Path, spoilt: str) -> None:
    path, old, new, mark, words = SPOILT[spoilt]
    assert old in FILES[path], "the test spoils nothing"
    text = FILES[path].replace(old, new)
    lay_out(tmp_path)
    (tmp_path / path).write_text(text, encoding="utf-8")
    with pytest.raises(AicrError) as caught:
        Catalog.load(tmp_path)
    said = f"{caught.value.message} {caught.value.hint}".replace(f"{tmp_path}/", "")
    for word in words.split(" "):
        assert word in said
    if mark is not None:
        lines = [number for number, line in enumerate(text.splitlines(), 1) if mark in line]
        assert any(f"{path}:{line}: " in said or f"{path}: line {line}, " in said for line in lines)


@pytest.mark.parametrize("spoilt", ["unknown parent", "unknown mixin", "absent values file"])
def test_a_name_that_leads_nowhere_is_not_found(tmp_path: Path, spoilt: str) -> None:
    path, old, new, _mark, _words = SPOILT[spoilt]
    lay_out(tmp_path, {**FILES, path: FILES[path].replace(old, new)})
    with pytest.raises(AicrError) as caught:
        Catalog.load(tmp_path)
    assert caught.value.code is Code.NOT_FOUND


def test_all_problems_of_all_files_are_reported_together(tmp_path: Path) -> None:
    files = dict(FILES)
    apart = {
        "unknown key of a component": REGISTRY,
        "misspelt reading": BASE,
        "unknown parent": LEAF,
        "profile on the plain track": PROFILED,
        "number as constraint": MIXIN,
        "unknown phase": VALIDATORS,
    }
    for name, path in apart.items():
        files[path] = files[path].replace(SPOILT[name][1], SPOILT[name][2])
    with pytest.raises(AicrError) as caught:
        Catalog.load(lay_out(tmp_path, files))
    problems = caught.value.details["problems"]
    assert isinstance(problems, list)
    messages = [problem["message"] for problem in problems]
    assert messages == sorted(messages)
    for path in apart.values():
        assert any(path in message for message in messages)


def test_nobody_is_blamed_for_referring_to_a_broken_file(tmp_path: Path) -> None:
    files = {**FILES, EKS: FILES[EKS] + "  wibble: 1\n", MIXIN: "kind: [\n", REGISTRY: FILES[REGISTRY] + "x: 1\n"}
    with pytest.raises(AicrError) as caught:
        Catalog.load(lay_out(tmp_path, files))
    assert LEAF not in caught.value.message
    assert all(path in caught.value.message for path in (EKS, MIXIN, REGISTRY))


def test_an_overlay_may_refine_another_for_the_same_criteria(tmp_path: Path) -> None:
    refined = FILES[EKS].replace("name: eks", "name: eks-here").replace("spec:", "spec:\n  base: eks")
    catalog = Catalog.load(lay_out(tmp_path, {**FILES, "overlays/here.yaml": refined}))
    assert catalog.overlays["eks-here"].criteria == catalog.overlays["eks"].criteria


def test_constraints_of_checks_are_names_of_their_own(tmp_path: Path) -> None:
    leaf = Catalog.load(lay_out(tmp_path)).overlays["h100-eks"]
    assert leaf.validation is not None
    assert leaf.validation.performance is not None
    assert [each.name for each in leaf.validation.performance.constraints or ()] == ["bandwidth-floor"]


def test_an_empty_list_of_checks_stays_apart_from_an_absent_one(tmp_path: Path) -> None:
    emptied = FILES[LEAF].replace("checks:\n        - bandwidth", "checks: []")
    leaf = Catalog.load(lay_out(tmp_path, {**FILES, LEAF: emptied})).overlays["h100-eks"]
    assert leaf.validation is not None
    assert leaf.validation.performance is not None
    assert leaf.validation.performance.checks == ()
    assert leaf.validation.performance.timeout is None
    assert leaf.validation.deployment is None


def test_a_component_may_be_described_by_its_reference_alone(tmp_path: Path) -> None:
    own = FILES[LEAF].replace(
        "    - name: beta",
        "    - name: gamma\n      source: https://charts.example.com\n      chart: gamma\n    - name: beta",
    )
    catalog = Catalog.load(lay_out(tmp_path, {**FILES, LEAF: own}))
    assert catalog.registry.component("gamma") is None


def test_the_order_in_which_files_are_found_does_not_matter(tmp_path: Path) -> None:
    one = Catalog.load(lay_out(tmp_path / "one"))
    renamed = {
        path.replace("overlays/h100-eks", "overlays/a/0").replace("overlays/eks", "overlays/z"): text
        for path, text in reversed(FILES.items())
    }
    other = Catalog.load(lay_out(tmp_path / "other", renamed))
    assert list(one.overlays) == list(other.overlays)
    for name, overlay in one.overlays.items():
        assert [each.name for each in one.chain(overlay)] == [each.name for each in other.chain(other.overlays[name])]
        assert overlay.component_refs == other.overlays[name].component_refs


def test_documents_count_by_their_kind_outside_of_the_two_folders(tmp_path: Path) -> None:
    more = {
        "more/gke.yaml": FILES[EKS].replace("eks", "gke"),
        "evidence/recipe.yaml": "kind: RecipeResult\napiVersion: aicr.run/v1alpha2\n",
        "evidence/other.yaml": "kind: Pod\napiVersion: v1\n",
        "charts/x/templates/pod.yaml": "{{- if .Values.pod }}\nkind: Pod\n{{- end }}\n",
        "overlays/README.md": "Overlays.\n",
        ".github/workflows/ci.yaml": "kind: Wrong\napiVersion: aicr.run/v1alpha2\n",
    }
    assert "gke" in Catalog.load(lay_out(tmp_path, {**FILES, **more})).overlays
    lay_out(tmp_path, {"more/wrong.yaml": "kind: Wrong\napiVersion: aicr.run/v1alpha2\n"})
    with pytest.raises(AicrError, match=r'more/wrong.yaml:1: kind: "Wrong" is no kind of aicr.run'):
        Catalog.load(tmp_path)


def test_a_file_that_would_be_passed_over_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AicrError, match=r"overlays/gke.yml: is not read"):
        Catalog.load(lay_out(tmp_path, {**FILES, "overlays/gke.yml": FILES[EKS].replace("eks", "gke")}))


def test_an_overlay_by_itself_is_held_to_the_same_form() -> None:
    document = {
        "kind": "RecipeMetadata",
        "apiVersion": "aicr.run/v1beta1",
        "metadata": {"name": "mine"},
        "spec": {"base": "eks", "criteria": {"service": "EKS", "os": "al2023"}},
    }
    overlay = overlay_from_document(document, "mine.yaml")
    assert (overlay.name, overlay.parent, overlay.source) == ("mine", "eks", "mine.yaml")
    assert overlay.criteria == Criteria(service="eks", os="amazonlinux")
    with pytest.raises(AicrError, match=r'mine.yaml: spec.wibble: unknown key "wibble"'):
        overlay_from_document({**document, "spec": {"wibble": 1}}, "mine.yaml")


def test_an_overlay_by_itself_may_name_a_parent_that_is_not_there(tmp_path: Path) -> None:
    catalog = Catalog.load(lay_out(tmp_path))
    document = {
        "kind": "RecipeMetadata",
        "apiVersion": "aicr.run/v1alpha2",
        "metadata": {"name": "mine"},
        "spec": {"base": "nobody"},
    }
    with pytest.raises(AicrError, match=r'mine.yaml: overlay "mine" builds on "nobody"') as caught:
        catalog.chain(overlay_from_document(document, "mine.yaml"))
    assert caught.value.code is Code.NOT_FOUND


def test_a_file_laid_over_a_catalog_that_has_no_effect_is_refused(tmp_path: Path) -> None:
    root, own = lay_out(tmp_path / "root"), tmp_path / "own"
    registry = "kind: ComponentRegistry\napiVersion: aicr.run/v1alpha2\ncomponents: []\n"
    right = {
        "registry.yaml": registry,
        "components/alpha/values.yaml": "replicas: 2\n",
        "components/README.md": "Mine.",
    }
    Catalog.load(root, lay_out(own, right))
    lay_out(own, {"components/beta/value.yaml": "level: 3\n"})
    with pytest.raises(AicrError, match=r"own/components/beta/value\.yaml: has no effect") as caught:
        Catalog.load(root, own)
    assert 'did you mean "components/beta/values.yaml"?' in caught.value.hint
