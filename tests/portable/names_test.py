#!/usr/bin/env python3
"""Names of machines and users for the portable programs: a static C library must resolve them
whatever /etc/nsswitch.conf of the distribution says, and must not load the distribution's modules."""
import os
import shutil
import sys
import tempfile
import unittest

import roots

LAYER = tempfile.mkdtemp()
PORT = 50071
SERVER = "/opt/cobra/bin/cobra-server"
CLIENT = "/opt/cobra/bin/cobra-client"
HOSTS = "127.0.0.1 localhost\n127.0.0.1 predictor.example predictor\n"
DNS_FIRST = "a domain's"
# Of a desktop, of Fedora, of a member of a domain, and one that asks a module first.
SWITCHES = {
    "Debian's": "passwd: files systemd\ngroup: files systemd\nhosts: files mdns4_minimal [NOTFOUND=return] dns mymachines\n",
    "Fedora's": "passwd: files sss systemd\nhosts: files myhostname mdns4_minimal [NOTFOUND=return] resolve [!UNAVAIL=return] dns\n",
    DNS_FIRST: "passwd: sss files\ngroup: sss files\nhosts: resolve [!UNAVAIL=return] files dns\n",
    "one with modules that are nowhere": "passwd: nowhere files\nhosts: nowhere files\n",
    "one without a line for hosts": "passwd: files\n",
}


def root_folders():
    found = [os.path.join(roots.ROOTS, name) for name in ("debian-11", "debian-12", "debian-13", "alpine")]
    return [folder for folder in found if os.path.isdir(folder)]


class Names(unittest.TestCase):
    def ask(self, inside, name, **options):
        return inside.run(CLIENT, *QUESTION, "--server", f"{name}:{PORT}", cwd="/work", **options)

    def assert_resolved(self, inside, where):
        for resolver in ("ares", "native"):
            # gRPC's own resolver asks for DNS first there, as nsswitch.conf says, and these roots have
            # none. The ordinary build does the same.
            if resolver == "ares" and where[1] == DNS_FIRST:
                continue
            for name in ("localhost", "predictor.example"):
                with self.subTest(where=where, name=name, resolver=resolver):
                    answer = self.ask(inside, name, environment={"GRPC_DNS_RESOLVER": resolver})
                    roots.check(self, answer, EXPECTED)

    def each_switch(self, folder):
        with roots.Inside(LAYER, *folder) as inside:
            inside.write("/etc/hosts", HOSTS)
            roots.serve(inside, f"127.0.0.1:{PORT}")
            for name, text in SWITCHES.items():
                inside.write("/etc/nsswitch.conf", text)
                self.assert_resolved(inside, (folder, name))

    def test_modules_that_are_not_there(self):
        self.each_switch([])

    def test_modules_of_another_c_library(self):
        folders = root_folders()
        if not folders:
            self.skipTest("no root file systems (scripts/portable-roots.sh makes them)")
        for folder in folders:
            self.each_switch([folder])

    def test_without_nsswitch(self):
        with roots.Inside(LAYER) as inside:
            inside.write("/etc/hosts", HOSTS)
            roots.serve(inside, f"127.0.0.1:{PORT}")
            self.assert_resolved(inside, ("empty", "no nsswitch.conf"))

    def test_without_etc(self):
        """Of a name that nothing resolves, localhost too, the error says it; an address does."""
        with roots.Inside(LAYER) as inside:
            roots.serve(inside, f"127.0.0.1:{PORT}")
            for resolver in ("ares", "native"):
                options = {"environment": {"GRPC_DNS_RESOLVER": resolver}}
                answer = self.ask(inside, "127.0.0.1", **options)
                roots.check(self, answer, EXPECTED)
                for name in ("localhost", "predictor.example"):
                    answer = self.ask(inside, name, **options)
                    if answer.code != 0:
                        self.assertEqual(answer.code, 3, answer.err)
                        self.assertIn(f"resolution failed for {name}:", answer.err)

    def test_users(self):
        """libpq asks who the user is, and for the host: it fails with a sentence, not with a signal."""
        database = "postgresql://predictor.example:1/cobra"
        command = [SERVER, "--listen", f"127.0.0.1:{PORT}", "--metrics", "", "--store", database]
        for folder in [[], *([folder] for folder in root_folders())]:
            with roots.Inside(LAYER, *folder) as inside:
                inside.write("/etc/hosts", HOSTS)
                for name, text in SWITCHES.items():
                    inside.write("/etc/nsswitch.conf", text)
                    with self.subTest(folder=folder, switch=name):
                        answer = inside.run(*command, user=4711, environment={"HOME": None})
                        self.assertIn(answer.code, (1, 3), answer.err)
                        self.assertIn("predictor.example", answer.err)


roots.archive()
roots.need_root()

if __name__ == "__main__":
    try:
        roots.unpack(LAYER)
        QUESTION = roots.make_models(os.path.join(LAYER, "work"))[1]
        EXPECTED = roots.ordinary_answers([QUESTION], os.path.join(LAYER, "work"))[0]
        result = unittest.main(exit=False).result
    finally:
        shutil.rmtree(LAYER)
    sys.exit(not result.wasSuccessful())
