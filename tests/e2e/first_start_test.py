#!/usr/bin/env python3
"""A server that other machines reach makes its own credentials at its first start, and says without
any whether it can answer."""
import os
import shutil
import subprocess
import tempfile
import unittest

import grpc

import programs

PROGRAM = os.path.join(programs.BIN, "cobra-server")


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60)


class FirstStartTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.credentials = os.path.join(self.folder, "credentials")
        self.cert = os.path.join(self.credentials, "server.pem")
        self.token = os.path.join(self.credentials, "admin.token")

    def start(self, *flags):
        server = programs.Server(
            os.path.join(self.folder, "store.sqlite"),
            *("--listen", "0.0.0.0:0", "--credentials", self.credentials, "--tls-name", "cobra.example.org", *flags),
        )
        self.addCleanup(server.__exit__)
        return server

    def code(self, port, token):
        """Of a call that only the role admin may do, with the TLS library of grpcio and another
        name."""
        with open(self.cert, "rb") as file:
            roots = grpc.ssl_channel_credentials(file.read())
        name = [("grpc.ssl_target_name_override", "cobra.example.org")]
        with grpc.secure_channel(f"127.0.0.1:{port}", roots, name) as channel:
            try:
                call = channel.unary_unary("/cobra.v1.Admin/GetCaches")
                call(b"", metadata=[("authorization", "Bearer " + token)], timeout=30)
                return grpc.StatusCode.OK
            except grpc.RpcError as error:
                return error.code()

    def test_credentials_are_made_and_kept(self):
        tokens = set()
        for _ in range(2):
            server = self.start()
            port = server.address.rsplit(":", 1)[1]
            for host in ("localhost", "127.0.0.1"):
                address = ("--server", f"{host}:{port}", "--tls-ca", self.cert)
                answer = programs.client("model", *address, "--token-file", self.token)
                self.assertEqual(answer.code, 0, answer.err)
                self.assertEqual(programs.client("model", *address).code, 2)
            with open(self.token) as file:
                token = file.read().strip()
            tokens.add(token)
            self.assertEqual(self.code(port, token), grpc.StatusCode.OK)
            self.assertEqual(self.code(port, token[:-1]), grpc.StatusCode.UNAUTHENTICATED)
            self.assertIn(f"--tls-ca {self.cert} --token-file {self.token}", server.log())
            self.assertNotIn(token, server.log())
            server.stop()
        self.assertEqual(len(tokens), 1)

    def test_what_contradicts_them_is_refused(self):
        self.start().stop()
        given = ("--credentials", self.credentials, "--store", os.path.join(self.folder, "never.sqlite"))
        for flags, words in (
            ((*given, "--tls-name", "other.example.org"), f"{self.cert} is not for this name\nhint: remove"),
            ((*given, "--access", "/dev/null"), "was given with --tls-cert or --access"),
            (("--tls-name", "other.example.org"), "has no effect without --credentials"),
        ):
            with self.subTest(words):
                answer = run(*flags)
                self.assertEqual(answer.returncode, 2, answer.stderr)
                self.assertIn(words, answer.stderr)

    def test_health_needs_no_credentials(self):
        server = self.start()
        check = ("health", "--metrics", server.metrics_address)
        answer = run(*check)
        self.assertEqual((answer.returncode, answer.stdout), (0, "SERVING\n"), answer.stderr)
        server.stop()
        answer = run(*check)
        self.assertEqual(answer.returncode, 1, answer.stdout)
        self.assertIn(f"{server.metrics_address}: no server listens there (Connection refused)", answer.stderr)
        self.assertEqual(run("health", "--metrics", "nonsense").returncode, 2)


if __name__ == "__main__":
    programs.main()
