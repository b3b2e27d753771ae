# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lookup and the filter ``query``, and the listing, as a user writes them (spec/surface.md 1.5, 1.7)."""

from __future__ import annotations

import json

from .conftest import Ansible

CRITERIA = {"service": "eks", "accelerator": "h100", "intent": "training", "os": "ubuntu", "platform": "slurm"}


def test_lookup_filter_and_listing(ansible: Ansible) -> None:
    selectors = ["components.gpu-operator.version", "deploymentOrder[0]", "configuration.slurm.accounting.mode"]
    of_lookup = "query('aicr.runtime.query', *selectors, criteria=criteria)"
    faulty = "{{ lookup('aicr.runtime.query', 'x', config='twice.yml') }}"
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "vars": {"criteria": CRITERIA, "selectors": selectors,
                 "recipe": "{{ lookup('aicr.runtime.recipe', criteria=criteria, return_document=true) }}"},
        "tasks": [
            {"name": "list", "aicr.runtime.recipe_list": {"criteria": CRITERIA}, "register": "listed"},
            {"name": "all", "ansible.builtin.assert": {"that": [
                (f"{of_lookup} == [recipe | aicr.runtime.query(selectors[0]),"
                 " recipe | aicr.runtime.query(selectors[1]), recipe | aicr.runtime.query(selectors[2])]"),
                "recipe | aicr.runtime.query(selectors[2]) == 'disabled'",
                "recipe | aicr.runtime.query(selectors[2], format='json') == '\"disabled\"\\n'",
                "(recipe | aicr.runtime.query('criteria', format='yaml') | from_yaml).platform == 'slurm'",
                "listed.recipes == query('aicr.runtime.recipe_list', criteria=criteria)",
                "listed.recipes[0].health.status == 'pass'",
                "not listed.changed",
            ]}},
            {"name": "wrong", "ansible.builtin.debug": {"msg": "{{ recipe | aicr.runtime.query('components.gpu') }}"},
             "ignore_errors": True, "register": "wrong"},
            {"name": "faulty", "ansible.builtin.debug": {"msg": faulty}, "ignore_errors": True, "register": "faulty"},
            {"name": "told once", "ansible.builtin.assert": {"that": [
                "wrong.msg.split('there is no key \"gpu\"') | count == 2",
                "faulty.msg.split('duplicate key \"a\", first') | count == 2",
            ]}},
        ],
    }  # fmt: skip
    (ansible.folder / "twice.yml").write_text("a: 1\na: 2\n")
    (ansible.folder / "play.yml").write_text(json.dumps([play]))
    ansible.playbook("play.yml")
