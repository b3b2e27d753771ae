# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every deployer is given and gives back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ... import yamlio
from ...artifacts.recipe import RecipeResult
from ...atomic import FileContent
from ...errors import AicrError
from ..layout import Folder, local_chart
from ..value_path import Values


@dataclass(frozen=True)
class DeployerOptions:
    """What a request says to the deployer itself.

    :ivar serial: one component after the other, even where some could go together.
    :ivar argocd: options by snake_case name: ``app_name``, ``name_prefix``, ``destination_server``, ``project``,
        ``cascade_delete``.
    """

    repo: str | None = None
    target_revision: str | None = None
    serial: bool = False
    argocd: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """A bundle before it has a form.

    :ivar recipe: what the bundle holds; its references are those that run.
    :ivar folders: in the order of installation.
    """

    recipe: RecipeResult
    folders: Sequence[Folder]


class Deployer(ABC):
    """Turns a plan into files.

    :cvar entrypoint: the file at the root with which an installation begins.
    :cvar takes_dynamic: whether values can stand open until the installation.
    :cvar keeps_recipe: whether ``recipe.yaml`` stands in the bundle.
    """

    name: str
    entrypoint: str
    takes_dynamic: bool
    keeps_recipe: bool

    @classmethod
    @abstractmethod
    def read(cls, options: DeployerOptions, problems: list[AicrError]) -> Deployer:
        """The deployer with its options; what it cannot take becomes a problem."""

    def problems(self, plan: Plan) -> Iterator[AicrError]:  # noqa: ARG002 - the default has nothing against any plan
        """What about a plan this deployer cannot install."""
        return iter(())

    def warnings(self) -> Iterator[str]:
        """What a user should know of the options, though nothing is wrong."""
        return iter(())

    @abstractmethod
    def files(self, plan: Plan) -> Iterator[tuple[str, FileContent]]:
        """All files of the bundle except those that every bundle has."""

    def settings(self) -> dict[str, object]:
        """What ``bundle-info.yaml`` tells of the deployer's options."""
        return {}

    def release_manifest(self, folder: Folder) -> str | None:  # noqa: ARG002 - the default knows no such file
        """The file that stands for a release, if the deployer has such."""
        return None


def text_file(text: str, *, executable: bool = False) -> FileContent:
    """A file of text."""
    return FileContent(text.encode(), executable)


class Dumper:
    """YAML of values; a component's folders share theirs, so the same mapping is written once."""

    def __init__(self) -> None:
        self._texts: dict[int, FileContent] = {}

    def __call__(self, values: Values) -> FileContent:
        known = self._texts.get(id(values))
        if known is None:
            known = self._texts[id(values)] = text_file(yamlio.dump(values))
        return known


def chart_files(folder: Folder, dump: Dumper) -> Iterator[tuple[str, FileContent]]:
    """What every deployer has in a folder: values, and the local chart if there is one."""
    yield f"{folder.path}/values.yaml", dump(folder.values)
    if folder.templates is not None:
        yield f"{folder.path}/Chart.yaml", text_file(local_chart(folder))
        for name, text in folder.templates.items():
            yield f"{folder.path}/{name}", text_file(text)
