# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys and certificates that operators make for what they run."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_PEM = serialization.Encoding.PEM


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, both in PEM."""

    certificate: bytes
    key: bytes

    @classmethod
    def make(
        cls, name: str, days: int, hosts: Sequence[str] = (), ca: bool = False, issuer: Pair | None = None
    ) -> Pair:
        """A new one, signed by its issuer, or by itself."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        signer = key
        by = subject
        if issuer is not None:
            loaded = serialization.load_pem_private_key(issuer.key, None)
            assert isinstance(loaded, ec.EllipticCurvePrivateKey)
            signer, by = loaded, x509.load_pem_x509_certificate(issuer.certificate).subject
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(by)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        )
        if ca:
            usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
            builder = builder.add_extension(usage, critical=True)
        if hosts:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_name(host) for host in hosts]), critical=False
            )
        certificate = builder.sign(signer, hashes.SHA256()).public_bytes(_PEM)
        form = serialization.PrivateFormat.TraditionalOpenSSL
        return cls(certificate, key.private_bytes(_PEM, form, serialization.NoEncryption()))


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def described(certificate: bytes) -> dict[str, str]:
    """Subject, issuer and validity, as a status tells them."""
    one = x509.load_pem_x509_certificate(certificate)
    form = "%Y-%m-%dT%H:%M:%SZ"
    return {
        "subject": one.subject.rfc4514_string(),
        "issuer": one.issuer.rfc4514_string(),
        "notBefore": one.not_valid_before_utc.strftime(form),
        "notAfter": one.not_valid_after_utc.strftime(form),
    }
