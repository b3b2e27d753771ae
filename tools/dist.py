# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the collection's tarball from HEAD, so that one commit always gives the same bytes.

`ansible-galaxy collection build` decides what goes in. It stamps the present time and keeps the order in which the
file system lists names; so its tarball is packed again, sorted, with the time of the commit.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=CHECKOUT, check=True, capture_output=True).stdout


def galaxy_build(source: Path, output: Path) -> Path:
    with tarfile.open(fileobj=io.BytesIO(git("archive", "HEAD"))) as archive:
        archive.extractall(source, filter="data")
    command = ["ansible-galaxy", "collection", "build", "--output-path", str(output), str(source)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (tarball,) = output.glob("*.tar.gz")
    return tarball


def in_order(contents: dict[str, bytes]) -> None:
    """Sort FILES.json, and let MANIFEST.json, which has its checksum, know."""
    files = json.loads(contents["FILES.json"])
    files["files"].sort(key=lambda entry: entry["name"])
    contents["FILES.json"] = json.dumps(files, indent=1).encode()
    manifest = json.loads(contents["MANIFEST.json"])
    manifest["file_manifest_file"]["chksum_sha256"] = hashlib.sha256(contents["FILES.json"]).hexdigest()
    contents["MANIFEST.json"] = json.dumps(manifest, indent=1).encode()


def pack_again(tarball: Path, time: int) -> bytes:
    with tarfile.open(tarball) as archive:
        members = archive.getmembers()
        contents = {member.name: archive.extractfile(member).read() for member in members if member.isreg()}
    in_order(contents)

    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", filename="", mtime=time) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for member in sorted(members, key=lambda member: member.name):
            content = contents.get(member.name, b"")
            entry = tarfile.TarInfo(member.name)
            entry.type, entry.linkname, entry.mode = member.type, member.linkname, member.mode
            entry.size, entry.mtime = len(content), time
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description="build the collection's tarball from HEAD")
    parser.add_argument("--output", type=Path, default=CHECKOUT / "dist", help="folder for the tarball")
    output = parser.parse_args().output

    time = int(git("log", "-1", "--format=%ct"))
    with tempfile.TemporaryDirectory() as scratch:
        tarball = galaxy_build(Path(scratch, "source"), Path(scratch))
        packed = pack_again(tarball, time)
    output.mkdir(parents=True, exist_ok=True)
    target = output / tarball.name
    target.write_bytes(packed)
    print(f"{target}  sha256:{hashlib.sha256(packed).hexdigest()}")


if __name__ == "__main__":
    main()
