#!/usr/bin/env python3
"""Lists what a portable archive consists of, as SPDX 2.3 in JSON.

sbom.py ARCHIVE --created 2026-01-31T12:00:00Z [--file NAME VERSION LICENSE PATH]... > sbom.spdx.json

The libraries are those of the archive's share/doc/cobra/libraries.txt: names, version, Debian's
source package, and the licences of all files of that source, separated by tabs. --file adds a
Debian package of which a file lies beside the programs, as in an image. The same archive gives the
same bytes.
"""

import argparse
import hashlib
import json
import os
import re
import sys
import tarfile
import urllib.parse

# The licence of what is linked, by source package. Debian lists those of all files of the source,
# under names that are not SPDX's, and not those of what other projects have copied into it
# (portable/notices.txt).
GCC = "GPL-3.0-or-later WITH GCC-exception-3.1 AND Apache-2.0"  # libstdc++ has fast_float and Ryu
GLIBC = "LGPL-2.1-or-later AND BSD-3-Clause AND ISC AND Inner-Net-2.0 AND SunPro AND LicenseRef-DEC"
LICENCES = {
    "abseil": "Apache-2.0",
    "boost1.81": "BSL-1.0",
    "c-ares": "MIT AND ISC",
    "cli11": "BSD-3-Clause",
    "cross-toolchain-base": GLIBC,  # for a compiler of another architecture
    "eigen3": "MPL-2.0",  # its interfaces to MKL and LAPACK, which are not compiled, are BSD-3-Clause
    "flatbuffers": "Apache-2.0",
    "gcc-12": GCC,
    "gcc-12-cross": GCC,
    "glibc": GLIBC,
    "grpc": "Apache-2.0 AND BSD-3-Clause AND BSD-2-Clause AND MIT",  # address_sorting and upb, xxHash, utf8_range
    "libseccomp": "LGPL-2.1-only",
    "nlohmann-json3": "MIT",
    "onnx": "Apache-2.0",
    "openssl": "Apache-2.0",
    "postgresql-15": "PostgreSQL AND BSD-3-Clause AND ISC",
    "prometheus-cpp": "MIT",
    "protobuf": "BSD-3-Clause",
    "re2": "BSD-3-Clause AND LicenseRef-Lucent",
    "sqlite3": "blessing",
    "tomlplusplus": "MIT",
    "utf8proc": "MIT AND Unicode-DFS-2015",
    "xz-utils": "LicenseRef-public-domain",
    "zlib": "Zlib",
}
# What SPDX has no identifier for.
OTHER_LICENCES = [
    {
        "licenseId": "LicenseRef-public-domain",
        "name": "Public domain",
        "extractedText": "liblzma is in the public domain.",
    },
    {
        "licenseId": "LicenseRef-DEC",
        "name": "Digital Equipment Corporation",
        "extractedText": "Permission to use, copy, modify, and distribute this software for any purpose with or without "
        "fee is hereby granted, provided that the above copyright notice and this permission notice appear in all "
        "copies, and that the name of Digital Equipment Corporation not be used in advertising or publicity pertaining "
        "to distribution of the document or software without specific, written prior permission. THE SOFTWARE IS "
        "PROVIDED ``AS IS'' AND DIGITAL EQUIPMENT CORP. DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE, "
        "INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL DIGITAL EQUIPMENT "
        "CORPORATION BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER "
        "RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS "
        "ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.",
    },
    {
        "licenseId": "LicenseRef-Lucent",
        "name": "Lucent Technologies",
        "extractedText": "Permission to use, copy, modify, and distribute this software for any purpose without fee is "
        "hereby granted, provided that this entire notice is included in all copies of any software which is or "
        "includes a copy or modification of this software and in all copies of the supporting documentation for such "
        'software. THIS SOFTWARE IS BEING PROVIDED "AS IS", WITHOUT ANY EXPRESS OR IMPLIED WARRANTY. IN PARTICULAR, '
        "NEITHER THE AUTHORS NOR LUCENT TECHNOLOGIES MAKE ANY REPRESENTATION OR WARRANTY OF ANY KIND CONCERNING THE "
        "MERCHANTABILITY OF THIS SOFTWARE OR ITS FITNESS FOR ANY PARTICULAR PURPOSE.",
    },
]

LIBRARIES = "share/doc/cobra/libraries.txt"
NAME = re.compile(r"cobra-(?P<version>[0-9][^-]*)-linux-(?P<architecture>x86_64|aarch64)\.tar\.xz")


class InvalidArchive(Exception):
    pass


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def read_libraries(archive):
    """Rows of (name, version, source package, licence), in the order of the file."""
    with tarfile.open(archive) as tar:
        inside = [member for member in tar.getmembers() if member.name.endswith("/" + LIBRARIES)]
        if len(inside) != 1:
            raise InvalidArchive(f"{archive}: has no {LIBRARIES}: build it with scripts/build-portable.sh")
        text = tar.extractfile(inside[0]).read().decode()
    rows = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        cells = tuple(cell.strip() for cell in line.split("\t"))
        if len(cells) != 4 or not all(cells):
            raise InvalidArchive(f"{archive}: {LIBRARIES}: {line!r}: four words separated by tabs are expected")
        rows.append(cells)
    return rows


def identifier(kind, name):
    """Letters, digits, dots and hyphens are all that SPDX allows in one."""
    return "SPDXRef-%s-%s" % (kind, re.sub(r"[^A-Za-z0-9.]+", "-", name))


def package(key, name, version, licence, **more):
    return {
        "SPDXID": key,
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        **more,
    }


def of_debian(kind, name, version, source, licence, **more):
    """A part that Debian's source package `source` was built to."""
    locator = "pkg:deb/debian/%s@%s?arch=source&distro=debian-12" % (source, urllib.parse.quote(version, safe=""))
    return package(
        identifier(kind, source + "-" + version),
        name,
        version,
        licence,
        supplier="Organization: Debian",
        sourceInfo="built from the Debian source package %s %s" % (source, version),
        externalRefs=[
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator},
        ],
        **more,
    )


def of_library(name, version, source, licences):
    if source not in LICENCES:
        raise InvalidArchive("%s: docker/sbom.py does not know its licence: add it to LICENCES" % source)
    comments = {"licenseComments": "licences of all files of the source: " + licences}
    return of_debian("Library", name, version, source, LICENCES[source], **comments)


def document(archive, created, files):
    name = os.path.basename(archive)
    match = NAME.fullmatch(name)
    if match is None:
        raise InvalidArchive(f"{archive}: is not named cobra-VERSION-linux-ARCHITECTURE.tar.xz")
    digest = sha256(archive)
    cobra = package(
        "SPDXRef-Package-cobra",
        "cobra",
        match["version"],
        "Apache-2.0",
        packageFileName=name,
        checksums=[{"algorithm": "SHA256", "checksumValue": digest}],
        primaryPackagePurpose="APPLICATION",
    )
    packages, relations = [cobra], [("SPDXRef-DOCUMENT", "DESCRIBES", cobra["SPDXID"])]
    for row in read_libraries(archive):
        packages.append(of_library(*row))
        relations.append((cobra["SPDXID"], "STATIC_LINK", packages[-1]["SPDXID"]))
    for file_name, version, licence, path in files:
        packages.append(of_debian("File", file_name, version, file_name, licence, comment="its file is %s" % path))
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", packages[-1]["SPDXID"]))
    names = [each["SPDXID"] for each in packages]
    if len(set(names)) != len(names):
        raise InvalidArchive(f"{archive}: {LIBRARIES}: a source package is listed twice")
    # Different if anything in the document is: a namespace must not be used twice.
    unique = hashlib.sha256(json.dumps([digest, created, packages]).encode()).hexdigest()[:32]
    title = name[: -len(".tar.xz")]
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": title,
        "documentNamespace": "urn:cobra:sbom:%s:%s" % (title, unique),
        "creationInfo": {"created": created, "creators": ["Tool: cobra-docker-sbom.py"]},
        "packages": packages,
        "hasExtractedLicensingInfos": OTHER_LICENCES,
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
            for one, kind, other in relations
        ],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", metavar="ARCHIVE")
    parser.add_argument("--created", required=True, help="time of the commit, in UTC")
    parser.add_argument("--file", nargs=4, action="append", default=[], metavar=("NAME", "VERSION", "LICENSE", "PATH"))
    arguments = parser.parse_args()
    try:
        json.dump(document(arguments.archive, arguments.created, arguments.file), sys.stdout, indent=1)
    except (InvalidArchive, OSError, tarfile.TarError) as error:
        print(f"sbom.py: {error}", file=sys.stderr)
        return 1
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
