#!/usr/bin/env python3
"""A server with TLS, asked by the portable client that trusts what the system trusts, where each
distribution keeps its certificates."""
import os
import shutil
import sys
import tempfile
import unittest

import roots

sys.path.insert(0, os.path.join(roots.SOURCE, "tests", "e2e"))
import certificates

LAYER = tempfile.mkdtemp()
ADDRESS = "localhost:50073"
# Laid out by hand, each alone in an empty root.
PLACES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


class Trust(unittest.TestCase):
    def serve(self, inside):
        inside.write("/etc/hosts", "127.0.0.1 localhost\n")
        for name in ("server.pem", "server.key"):
            inside.copy(os.path.join(KEYS, name), "/tmp/" + name, mode=0o600)
        tls = ("--tls-cert", "/tmp/server.pem", "--tls-key", "/tmp/server.key")
        roots.serve(inside, "127.0.0.1:50073", *tls)

    def ask(self, inside, authority="system", **options):
        return inside.run(
            *(
                "/opt/cobra/bin/cobra-client",
                *QUESTION,
                "--server",
                ADDRESS,
                "--tls-ca",
                authority,
                "--deadline-s",
                "20",
            ),
            cwd="/work",
            **options,
        )

    def assert_trusts(self, inside, **options):
        answer = self.ask(inside, **options)
        roots.check(self, answer, EXPECTED)

    def certificate(self):
        with open(AUTHORITY.cert) as file:
            return file.read()

    def test_places(self):
        for place in PLACES:
            with roots.Inside(LAYER) as inside, self.subTest(place=place):
                self.serve(inside)
                inside.write(place, OTHER + self.certificate())
                self.assert_trusts(inside)

    def test_named_by_environment(self):
        with roots.Inside(LAYER) as inside:
            self.serve(inside)
            inside.write(PLACES[0], OTHER)
            inside.write("/home/authorities.pem", self.certificate())
            self.assert_trusts(inside, environment={"SSL_CERT_FILE": "/home/authorities.pem"})

    def test_not_trusted(self):
        with roots.Inside(LAYER) as inside:
            self.serve(inside)
            inside.write(PLACES[0], OTHER)
            answer = self.ask(inside)
            self.assertEqual(answer.code, 3, answer.err)
            self.assertIn("certificate verify failed", answer.err)

    def test_no_certificates(self):
        with roots.Inside(LAYER) as inside:
            answer = self.ask(inside)
            self.assertEqual(answer.code, 2, answer.err)
            for word in ("--tls-ca system", PLACES[0], "SSL_CERT_FILE"):
                self.assertIn(word, answer.err)

    def test_added_as_the_distribution_wants_it(self):
        """By the distribution's own program, beside all that it trusts anyway."""
        tried = 0
        for name in ("debian-11", "debian-12", "debian-13", "alpine"):
            folder = os.path.join(roots.ROOTS, name)
            if not os.path.isdir(folder):
                continue
            tried += 1
            with roots.Inside(LAYER, folder) as inside, self.subTest(root=name):
                self.serve(inside)
                self.assertEqual(self.ask(inside).code, 3)
                inside.write("/usr/local/share/ca-certificates/ours.crt", self.certificate())
                roots.done(inside.run("update-ca-certificates"))
                self.assert_trusts(inside)
        if tried == 0:
            self.skipTest("no root file systems (scripts/portable-roots.sh makes them)")


roots.archive()
roots.need_root()

if __name__ == "__main__":
    KEYS = tempfile.mkdtemp()
    try:
        AUTHORITY = certificates.Authority(KEYS)
        AUTHORITY.issue("server", "localhost", "DNS:localhost,IP:127.0.0.1")
        with open(certificates.Authority(KEYS, "other").cert) as other:
            OTHER = other.read()
        roots.unpack(LAYER)
        QUESTION = roots.make_models(os.path.join(LAYER, "work"))[1]
        EXPECTED = roots.ordinary_answers([QUESTION], os.path.join(LAYER, "work"))[0]
        result = unittest.main(exit=False).result
    finally:
        shutil.rmtree(LAYER)
        shutil.rmtree(KEYS)
    sys.exit(not result.wasSuccessful())
