#!/usr/bin/env python3
"""Puts the images of all architectures, with their lists of contents, into one OCI layout.

image_layout.py OUT NAME:TAG ARCHITECTURE FOLDER SBOM [ARCHITECTURE FOLDER SBOM]...

FOLDER is what `buildah push IMAGE dir:FOLDER` wrote, of an image in Docker's format: Buildah writes
no health check into OCI's. Docker reads one there, and BuildKit writes it, so this program does
too. What Buildah adds about the container that it built in would differ each time, and is left out.

OUT gets TAG/, a layout with one index (skopeo copy --all oci:OUT/TAG:TAG ...), in which a manifest
of its own binds each SBOM to its image; and NAME-TAG-ARCHITECTURE.tar, which `docker load` and
`podman load` take. The same images give the same bytes. The sizes are printed.
"""

import gzip
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
LABELS = "org.opencontainers.image."
SPDX = "application/spdx+json"
LAYOUT = b'{"imageLayoutVersion":"1.0.0"}'


def compact(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


class Blobs:
    """Contents by digest."""

    def __init__(self):
        self.contents = {}

    def add(self, content, media_type, **more):
        """The descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        self.contents[digest] = content
        return {"mediaType": media_type, "digest": "sha256:" + digest, "size": len(content), **more}

    def of(self, descriptor):
        return self.contents[descriptor["digest"].split(":")[1]]

    def write(self, folder):
        os.makedirs(os.path.join(folder, "blobs", "sha256"))
        for digest, content in self.contents.items():
            with open(os.path.join(folder, "blobs", "sha256", digest), "wb") as file:
                file.write(content)


def configuration(pushed):
    """What describes the image."""
    kept = {key: pushed[key] for key in ("architecture", "os", "created", "rootfs", "history")}
    words = ("User", "ExposedPorts", "Env", "Entrypoint", "Cmd", "Volumes", "WorkingDir", "StopSignal", "Healthcheck")
    kept["config"] = {word: pushed["config"][word] for word in words}
    labels = pushed["config"]["Labels"]
    kept["config"]["Labels"] = {key: labels[key] for key in labels if key.startswith(LABELS)}
    return kept


class Image:
    def __init__(self, architecture, folder, sbom):
        self.architecture = architecture
        self.blobs = Blobs()
        with open(os.path.join(folder, "manifest.json"), "rb") as file:
            pushed = json.load(file)
        self.config = configuration(json.loads(self.read(folder, pushed["config"])))
        config = self.blobs.add(compact(self.config), CONFIG)
        layers = [self.blobs.add(self.read(folder, layer), LAYER) for layer in pushed["layers"]]
        # Docker's words for a processor; 64-bit ARM has one variant only.
        platform = {"architecture": architecture, "os": "linux"}
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers}
        self.descriptor = self.blobs.add(compact(manifest), MANIFEST, platform=platform)
        self.manifest = manifest
        with open(sbom, "rb") as file:
            self.sbom = file.read()

    @staticmethod
    def read(folder, descriptor):
        with open(os.path.join(folder, descriptor["digest"].split(":")[1]), "rb") as file:
            return file.read()

    def compressed_bytes(self):
        return sum(layer["size"] for layer in self.manifest["layers"]) + self.manifest["config"]["size"]

    def unpacked_bytes(self):
        """Of the files."""
        total = 0
        for layer in self.manifest["layers"]:
            with tarfile.open(fileobj=io.BytesIO(gzip.decompress(self.blobs.of(layer)))) as tar:
                total += sum(member.size for member in tar if member.isfile())
        return total

    def write_archive(self, path, name, tag):
        """In Docker's format, which every engine loads under the same names, with its health check."""
        tags = ["%s:%s" % (name, tag), name + ":latest"]
        loaded = {
            "Config": blob_path(self.manifest["config"]),
            "RepoTags": tags,
            "Layers": [blob_path(layer) for layer in self.manifest["layers"]],
        }
        files = {"manifest.json": compact([loaded])}
        for descriptor in (self.manifest["config"], *self.manifest["layers"]):
            files[blob_path(descriptor)] = self.blobs.of(descriptor)
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
            for file_name in sorted(files):
                member = tarfile.TarInfo(file_name)
                member.size, member.mode = len(files[file_name]), 0o644
                tar.addfile(member, io.BytesIO(files[file_name]))


def blob_path(descriptor):
    return "blobs/" + descriptor["digest"].replace(":", "/")


def named(descriptor, tag):
    return {**descriptor, "annotations": {"org.opencontainers.image.ref.name": tag}}


def write_layout(folder, tag, images):
    """One index of all images under `tag`. A registry finds an image's SBOM by its `subject`."""
    blobs, loose = Blobs(), []
    for image in images:
        blobs.contents.update(image.blobs.contents)
        subject = {key: image.descriptor[key] for key in ("mediaType", "digest", "size")}
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": SPDX,
            "config": blobs.add(b"{}", "application/vnd.oci.empty.v1+json"),
            "layers": [blobs.add(image.sbom, SPDX)],
            "subject": subject,
            "annotations": {"org.opencontainers.image.title": "sbom.spdx.json"},
        }
        loose.append(blobs.add(compact(manifest), MANIFEST, artifactType=SPDX))
    index = {
        "schemaVersion": 2,
        "mediaType": INDEX,
        "manifests": [image.descriptor for image in images],
        "annotations": images[0].config["config"]["Labels"],
    }
    descriptor = blobs.add(compact(index), INDEX)
    top = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [named(descriptor, tag), *loose]}
    shutil.rmtree(folder, ignore_errors=True)
    blobs.write(folder)
    for name, content in (("oci-layout", LAYOUT), ("index.json", compact(top))):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    return descriptor["digest"]


def main():
    out, reference, *rest = sys.argv[1:]
    name, tag = reference.split(":")
    images = [Image(*rest[i : i + 3]) for i in range(0, len(rest), 3)]
    os.makedirs(out, exist_ok=True)
    print("index  %s" % write_layout(os.path.join(out, tag), tag, images))
    for image in images:
        path = os.path.join(out, "%s-%s-%s.tar" % (name, tag, image.architecture))
        image.write_archive(path, name, tag)
        sizes = image.compressed_bytes() / 1e6, image.unpacked_bytes() / 1e6
        print("%s  %s  %.1f MB compressed, %.1f MB unpacked" % (image.architecture, image.descriptor["digest"], *sizes))


if __name__ == "__main__":
    main()
