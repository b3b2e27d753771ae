# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make cluster` and `make cluster-stop` call: the beds of this checkout, one for each fake cluster."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from .bed import Bed, BedError
from .debian import Unbuildable
from .nodes import names
from .programs import CHECKOUT, TOOLS, ensure

BEDS = CHECKOUT / ".cache" / "cluster"
"""Beds that stay until they are stopped, each in a directory named by its cluster."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="bed", description="A test cluster on loopback (docs/testing.md).")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="make the programs and start nothing")
    commands.add_parser("tools", help="fetch helm and kubectl, and print the directory that holds them")
    start = commands.add_parser("start", help="bring up a bed, unless it is up")
    start.add_argument("cluster", choices=names())
    start.add_argument("--nodes", type=int, help="how many there shall be, instead of as many as the cluster has")
    commands.add_parser("stop", help="stop all beds that `start` brought up in this checkout")
    arguments = parser.parse_args()
    try:
        if arguments.command == "build":
            ensure()
        elif arguments.command == "tools":
            print(ensure([TOOLS])["helm"].parent)
        elif arguments.command == "start":
            up(arguments.cluster, arguments.nodes)
        else:
            for directory in beds():
                Bed.of(directory).stop()
                print(f"bed {directory.name}: stopped")
    except (BedError, Unbuildable) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def beds() -> list[Path]:
    return sorted(place.parent for place in BEDS.glob("*/bed.json"))


def up(cluster: str, nodes: int | None) -> None:
    directory, begin = BEDS / cluster, time.monotonic()
    if (directory / "bed.json").exists():
        bed, how = Bed.open(directory), "is up"
    else:
        ensure()
        begin = time.monotonic()
        bed = Bed.start(directory, cluster, nodes)
        how = f"is up after {time.monotonic() - begin:.1f} s"
    print(
        f"bed {cluster}: {how}",
        f"export KUBECONFIG={bed.kubeconfig}",
        f"export PATH={bed.programs['kubectl'].parent}:$PATH",
        sep="\n  ",
    )


if __name__ == "__main__":
    sys.exit(main())
