# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the text of a `set` means, and what a chart would make of a number (cases H1, H3, Y1, Y4)."""

from __future__ import annotations

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.credential import credentials
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.scalar import exponents, read_scalar, rounded_versions


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("-1", -1),
        ("+3", 3),
        ("0755", 755),
        ("0x1f", 31),
        ("0o17", 15),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("no", "no"),
        ("on", "on"),
        ("NO", "NO"),
        ("off", "off"),
        ("y", "y"),
        ("1_000", "1_000"),
        (".inf", ".inf"),
        ("nan", "nan"),
        ("1.2.3", "1.2.3"),
        ("a=b", "a=b"),
        ("nvcr.io:443/nvidia", "nvcr.io:443/nvidia"),
        ("[1, 2]", "[1, 2]"),
        ("{a: 1}", "{a: 1}"),
        ("# x", "# x"),
        ("*x", "*x"),
        ('"7"', "7"),
        ("'true'", "true"),
        ("'it''s'", "it's"),
        ("2026-11-30", "2026-11-30"),
        ("   ", "   "),
    ],
)
def test_a_scalar_is_read_by_the_rules_of_yaml_1_2(text: str, value: object) -> None:
    found = read_scalar(text, ("some", "path"))
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("key", ["version", "driverVersion", "kubeversion", "tag", "imageTag", "digest", "imageDigest"])
@pytest.mark.parametrize("text", ["570", "1.30", "20161216", "1234e56", "null", "true", "0755"])
def test_no_type_is_guessed_for_a_version_a_tag_or_a_digest(key: str, text: str) -> None:
    assert read_scalar(text, ("image", key)) == text


@pytest.mark.parametrize("key", ["id", "accountId", "clusterID", "account_id"])
def test_an_account_number_keeps_its_digits(key: str) -> None:
    assert read_scalar("012345678901", (key,)) == "012345678901"


def test_a_switch_whose_name_ends_in_id_stays_a_switch() -> None:
    assert read_scalar("true", ("hostPID",)) is True


@pytest.mark.parametrize("number", [999_999, 1_000_000, 8_388_608, 356_136_738])
def test_numbers_reach_the_file_as_they_are(number: int) -> None:
    assert yamlio.dump({"size": read_scalar(str(number), ("size",))}) == f"size: {number}\n"


def test_a_number_that_helm_prints_with_an_exponent_is_noticed() -> None:
    assert list(exponents({"a": 999_999, "b": 1_000_000, "c": [2], "d": {"e": -8_388_608}}, ("x",))) == ["x.b", "x.d.e"]


def test_a_version_that_yaml_has_already_rounded_is_noticed() -> None:
    values = {"version": 1.3, "tag": "1.30", "factor": 1.3, "driver": {"kernelVersion": 5.10}}
    assert list(rounded_versions(values, ("x",))) == ["x.version", "x.driver.kernelVersion"]


@pytest.mark.parametrize(
    "key", ["password", "adminPassword", "passwd", "token", "registryToken", "clientSecret", "apiKey", "private_key"]
)
def test_a_key_that_says_credential_is_noticed_whatever_its_scalar(key: str) -> None:
    for value in ("hunter2", 12345):
        assert list(credentials(value, ("auth", key))) == [f"auth.{key}"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("passwordKeyRef", "key"), "password"),
        (("passwordSecretKeyRef", "name"), "x"),
        (("passwordSecretKeyRef",), {"token": "x"}),
        (("secretName",), "x"),
        (("existingSecret",), "x"),
        (("password",), ""),
        (("password",), None),
        (("automountServiceAccountToken",), False),
        (("imagePullSecrets",), ["regcred"]),
        (("username",), "slurm"),
        (("tokens",), 3),
    ],
)
def test_a_reference_to_a_secret_is_none(path: tuple[str, ...], value: object) -> None:
    assert not list(credentials(value, path))


def test_a_credential_is_found_at_any_depth() -> None:
    value = {
        "auth": [{"user": "a", "password": "x"}],
        "env": [{"name": "DB_PASSWORD", "value": "x"}],
        "ok": {"name": "y"},
    }
    assert list(credentials(value, ("c",))) == ["c.auth.password", "c.env.DB_PASSWORD"]
