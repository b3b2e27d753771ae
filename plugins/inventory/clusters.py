# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: clusters
short_description: Kubernetes clusters as hosts, from a fleet file or the contexts of kubeconfigs
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - A host is a cluster. It comes from O(clusters) of the inventory source, the fleet file, or is a context of one of
    the O(kubeconfigs). What is said of it becomes the C(aicr_) variables of this collection's playbooks.
  - The name of the fleet file ends with C(clusters.yml) or C(clusters.yaml).
  - No API server is asked, and no program is started. Of a kubeconfig only its path and the names of contexts become
    variables (C(aicr_kubeconfig), C(aicr_context)).
  - The file is checked as a whole. An unknown key, a value that the playbooks would refuse, a credential, a host that
    is there twice or is called like a group; each is refused by file, line and key, and then no host is added.
  - Hosts are in the groups C(service_eks), C(accelerator_h100), C(platform_slurm) and C(mode_aicr_provided), as far as
    their C(aicr_criteria) and C(aicr_slurm_accounting_mode) are known here, composed ones included. What C(group_vars)
    and C(host_vars) say later makes no group.
options:
  plugin:
    description: The name of this plugin.
    type: str
    required: true
    choices:
      - aicr.runtime.clusters
  clusters:
    description:
      - Clusters by name. The name is that of the host, and of the folder of its artifacts.
      - Of each is said, by their names, any options of the playbooks without C(aicr_) before them, such as
        C(kubeconfig), C(context), C(criteria), C(slurm_accounting_mode) or C(scheduling). A relative C(kubeconfig)
        starts where the fleet file is. Any other path is taken as in a playbook; see C(inventory_dir).
      - C(vars) holds variables that are not of this collection, such as C(ansible_python_interpreter).
      - A value may be a template, except in C(criteria) and C(slurm_accounting_mode), of which groups are made.
        C(api_key) must be one, since an inventory shows what it holds.
    type: dict
    default: {}
  defaults:
    description:
      - What holds for each cluster of which nothing else is said, by the same names. A mapping is replaced, not merged,
        except C(vars). Null takes a default back.
    type: dict
    default: {}
  kubeconfigs:
    description:
      - Where to look for contexts, each of which is a host then. A text is a O(kubeconfigs[].path) of which nothing
        else is said.
      - Beside the options below stands what is said of all these clusters, as in O(clusters), except what the context
        says itself.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description:
          - The path of a kubeconfig, or a pattern of paths (C(*), C(?), C([…]), and C(**) for folders within folders).
            It starts where the fleet file is; C(~) and C($NAME) are known.
          - A path that matches no file, and a file that is no kubeconfig, are errors.
        type: str
        required: true
      include:
        description: Patterns of contexts. One of them must match the whole name. Without any, each context counts.
        type: list
        elements: str
      exclude:
        description: Patterns of contexts that are left out.
        type: list
        elements: str
      hostname:
        description:
          - A Jinja2 expression that makes the name of the host of C(context), C(cluster) (what the kubeconfig calls
            it), C(kubeconfig) (the path) and C(file) (the name of the file up to its first dot).
          - By default it is what follows the last slash of the context's name, which in the ARN of an EKS cluster is
            the name of the cluster.
        type: str
notes:
  - Ansible only warns of an inventory source that it cannot parse. Set
    C(ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED=true), or C(any_unparsed_is_failed) in the section C(inventory) of
    C(ansible.cfg), so that a fleet with an error stops the run.
  - With O(cache) the contexts that were found are kept, and nothing else; the fleet file is always read. They are
    looked for again when O(kubeconfigs) has changed, with C(--flush-cache), and when the cache expires.
  - The file cannot hold C(!vault) or be encrypted; C(group_vars) and C(host_vars) beside it can.
  - Composed variables of the playbooks are checked as stated ones are.
extends_documentation_fragment:
  - constructed
  - inventory_cache
"""

EXAMPLES = r"""
# fleet.clusters.yml, by hand
plugin: aicr.runtime.clusters
defaults:
  slurm_accounting_mode: disabled
clusters:
  berlin:
    kubeconfig: kubeconfigs/berlin.yaml
    criteria: {service: eks, accelerator: h100, intent: training, os: ubuntu, platform: slurm}
    slurm_accounting_mode: aicr-provided
  paris:
    kubeconfig: kubeconfigs/paris.yaml
    context: admin@paris
    criteria: {service: gke, accelerator: h100, intent: inference, os: cos}

---
# eks.clusters.yml, from the contexts that `aws eks update-kubeconfig` has written
plugin: aicr.runtime.clusters
kubeconfigs:
  - path: ~/.kube/eks/*.yaml
    include: ["arn:aws:eks:*"]
    exclude: ["*/sandbox-*"]
    criteria: {service: eks, accelerator: h100, intent: training, os: ubuntu}
keyed_groups:
  - key: aicr_context.split(':')[3]
    prefix: region

---
# many.clusters.yml, where each kubeconfig calls its context "default"
plugin: aicr.runtime.clusters
kubeconfigs:
  - path: kubeconfigs/*.kubeconfig
    hostname: file
compose:
  aicr_artifacts_dir: "'artifacts/' ~ inventory_hostname.split('-')[0]"
groups:
  canary: inventory_hostname is match('canary-')
strict: true
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: /tmp/fleet
"""

from collections.abc import Mapping
from typing import Any

from ansible import template as ansible_template
from ansible.errors import AnsibleError, AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable

from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, invalid
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.imports import Imports

with Imports() as imports:
    from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.codec import dotted
    from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.fleet import (
        ENDINGS,
        Cluster,
        Fleet,
        groups,
        read_fleet,
    )
    from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.fleet_contexts import Context
    from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.fleet_file import Keys


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    NAME = "aicr.runtime.clusters"

    def verify_file(self, path: str) -> bool:
        return super().verify_file(path) and (imports.problem is not None or path.endswith(ENDINGS))

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        super().parse(inventory, loader, path, cache)
        added: list[Any] = []
        try:
            if imports.problem is not None:
                raise imports.problem
            fleet = read_fleet(path, self.option_definitions)
            self._tried(path, self._read_config_data, path)
            hosts = fleet.hosts(self._contexts(fleet, path, cache), self._evaluate)
            by_name = {host.name: host for host in hosts}
            fleet.refuse_groups(by_name, self.inventory.groups, "of another inventory source")
            for host in hosts:
                added += [host.name] if host.name not in self.inventory.hosts else []
                self.inventory.add_host(host.name)
                for name, value in host.variables.items():
                    self.inventory.set_variable(host.name, name, _trusted(value))
            for host in hosts:
                self._construct(fleet, by_name, host.name)
        except AicrError as error:
            for name in added:  # half a fleet must not pass for the whole
                self.inventory.remove_host(self.inventory.get_host(name))
            raise AnsibleParserError(str(error)) from None

    @staticmethod
    def _tried(place: str, step: Any, *arguments: Any, **options: Any) -> Any:
        """The result of something that Ansible does, whose errors do not say where they come from."""
        try:
            return step(*arguments, **options)
        except AnsibleError as error:
            raise invalid(f"{place}: {error}") from error

    def _evaluate(self, expression: str, facts: Mapping[str, str]) -> object:
        return self._tried(f'hostname "{expression}"', self._compose, _trusted(expression), dict(facts))

    def _contexts(self, fleet: Fleet, path: str, cache: bool) -> list[Context]:
        """What was found, now or before; nothing but names and paths is kept."""
        if not self.get_option("cache"):
            return fleet.find()
        key = self.get_cache_key(path)
        kept = self._cache.get(key) if cache else None
        if not isinstance(kept, Mapping) or kept.get("search") != fleet.search:
            found = [[one.entry, one.kubeconfig, one.context, one.cluster] for one in fleet.find()]
            kept = {"search": fleet.search, "found": found}
            self._cache[key] = kept
        return [Context(*one) for one in kept["found"]]

    def _construct(self, fleet: Fleet, hosts: Mapping[str, Cluster], host: str) -> None:
        """Compose variables, check those of the playbooks, and make groups of what came out."""
        strict = self.get_option("strict")

        def variables() -> dict[str, Any]:
            return dict(self.inventory.get_host(host).get_vars())

        def tried(keys: Keys, step: Any, what: Any) -> None:
            try:
                step(what, variables(), host, strict=strict)
            except AnsibleError as error:
                raise invalid(f"{fleet.file.place(keys)}: {error}") from error
            finally:  # what Ansible says of a name that is both does not name it
                fleet.refuse_groups(hosts, self.inventory.groups, f"of {dotted(keys)}")

        for name, expression in self.get_option("compose").items():
            tried(("compose", name), self._set_composite_vars, {name: expression})
            if name in variables():
                fleet.check(host, ("compose", name), name, variables()[name])
        own = groups(variables())
        fleet.refuse_groups(hosts, own, f"that the criteria or the mode of {host} make")
        for name in own:
            self.inventory.add_child(self.inventory.add_group(name), host)
        for name, condition in self.get_option("groups").items():
            tried(("groups", name), self._add_host_to_composed_groups, {name: condition})
        for index, keyed in enumerate(self.get_option("keyed_groups")):
            tried(("keyed_groups", index), self._add_host_to_keyed_groups, [keyed])


def _trusted(value: Any) -> Any:
    """Text of the fleet file may be a template, as that of any inventory is; from ansible-core 2.19 on one must say so.

    What comes of a kubeconfig is none: the beginning of a template in it is refused.
    """
    if isinstance(value, str):
        trust = getattr(ansible_template, "trust_as_template", None)
        return value if trust is None else trust(value)
    if isinstance(value, Mapping):
        return {key: _trusted(item) for key, item in value.items()}
    return [_trusted(item) for item in value] if isinstance(value, list) else value
