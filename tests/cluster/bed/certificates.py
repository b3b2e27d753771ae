# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys and certificates of one bed: a CA, a server, the signer of ServiceAccount tokens, clients on request."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFE = timedelta(days=30)


@dataclass(frozen=True)
class Authority:
    """The CA of a bed, in a directory that only its owner reads."""

    directory: Path

    @classmethod
    def make(cls, directory: Path) -> Authority:
        """Make a new CA and the key pair that signs ServiceAccount tokens."""
        directory.mkdir(mode=0o700)
        authority = cls(directory)
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("bed-ca")
        usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
        certificate = (
            _builder(name, name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(usage, critical=True)
            .sign(key, hashes.SHA256())
        )
        authority._write("ca", key, certificate)
        # The API server signs tokens with RSA or EC keys; RSA is what clusters have.
        signer = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        _write_key(directory / "sa.key", signer)
        public = serialization.PublicFormat.SubjectPublicKeyInfo
        (directory / "sa.pub").write_bytes(signer.public_key().public_bytes(serialization.Encoding.PEM, public))
        return authority

    @property
    def certificate(self) -> Path:
        return self.directory / "ca.crt"

    def server(self, name: str, addresses: Sequence[str], hosts: Sequence[str]) -> None:
        """Write `NAME.crt` and `NAME.key` for a server under these addresses and host names."""
        names = [*map(x509.DNSName, hosts), *(x509.IPAddress(ipaddress.ip_address(a)) for a in addresses)]
        self._issue(name, _name(name), ExtendedKeyUsageOID.SERVER_AUTH, x509.SubjectAlternativeName(names))

    def client(self, user: str, groups: Sequence[str] = ()) -> tuple[Path, Path]:
        """Certificate and key by which the API server knows a user and its groups."""
        return self._issue(f"client-{user}", _name(user, groups), ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def _issue(
        self, file: str, subject: x509.Name, usage: x509.ObjectIdentifier, names: x509.SubjectAlternativeName | None
    ) -> tuple[Path, Path]:
        ca_key = serialization.load_pem_private_key((self.directory / "ca.key").read_bytes(), None)
        assert isinstance(ca_key, ec.EllipticCurvePrivateKey)
        ca = x509.load_pem_x509_certificate(self.certificate.read_bytes())
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, ca.subject, key.public_key())
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if names is not None:
            builder = builder.add_extension(names, critical=False)
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
        return self._write(file, key, builder.add_extension(identifier, critical=False).sign(ca_key, hashes.SHA256()))

    def _write(self, file: str, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> tuple[Path, Path]:
        places = self.directory / f"{file}.crt", self.directory / f"{file}.key"
        places[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        _write_key(places[1], key)
        return places


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + _LIFE)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _name(name: str, groups: Sequence[str] = ()) -> x509.Name:
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _write_key(place: Path, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> None:
    place.touch(mode=0o600)
    form, encoding = serialization.PrivateFormat.PKCS8, serialization.Encoding.PEM
    place.write_bytes(key.private_bytes(encoding, form, serialization.NoEncryption()))
