#!/usr/bin/env python3
"""A user with a server of their own, and one at the default address: which is asked is reported
once for each change. In a network of its own, where the default address is free."""
import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import sys
import unittest

import own_server_test
import programs

REPORTED = "the server at 127.0.0.1:50051 is used from now on"
AGAIN = "this user's own server is used again"


def enter_network_of_its_own():
    new_user, new_network = 0x10000000, 0x40000000
    user, group = os.getuid(), os.getgid()
    if ctypes.CDLL(None).unshare(new_network | (new_user if user else 0)) != 0:
        print("the kernel gives this user no network of their own: skipped", file=sys.stderr)
        sys.exit(77)
    if user:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    with socket.socket() as any_socket:
        get_flags, set_flags, up = 0x8913, 0x8914, 1
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, get_flags, request))[1]
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh14x", b"lo", flags | up))


class DefaultAddress(unittest.TestCase):
    setUp = own_server_test.OwnServer.setUp
    tearDown = own_server_test.OwnServer.tearDown
    start = own_server_test.OwnServer.start
    ask = own_server_test.OwnServer.ask
    servers = own_server_test.OwnServer.servers

    def at_default_address(self, *flags):
        return programs.Server(os.path.join(self.home, "other.sqlite"), "--listen", "127.0.0.1:50051", *flags)

    def answer(self, *arguments, **environment):
        code, out, err = self.ask(*arguments, **environment)
        self.assertEqual(code, 0, err)
        return out, err

    def test_a_change_is_reported_once(self):
        self.answer("targets")
        with self.at_default_address():
            quiet = self.answer(*own_server_test.QUESTION, "--target", own_server_test.TARGET, "-q")
            self.assertEqual(quiet[1], "")  # and is still to be reported
            _, err = self.answer("targets")
            self.assertIn(REPORTED, err)
            self.assertIn("--server own", err)
            self.assertEqual(self.answer("targets")[1], "")
            self.assertIn("used instead of this user's own server", self.ask("doctor")[1])
        _, err = self.answer("targets")
        self.assertIn(AGAIN, err)
        self.assertEqual(self.answer("targets")[1], "")
        with self.at_default_address():
            self.assertIn(REPORTED, self.answer("targets")[1])

    def test_the_own_server_can_be_named(self):
        with self.at_default_address():
            self.assertEqual(self.servers(), [])
            _, err = self.answer("model", "--server", "own")
            self.assertIn(own_server_test.STARTED, err)
            self.assertEqual(len(self.servers()), 1)
            question = (*own_server_test.QUESTION, "--target", own_server_test.TARGET)
            self.answer(*question, "--label", "commit=mine", COBRA_SERVER="own")
            deadline = 100
            while '"mine"' not in self.answer("history", "--server", "own", "--format", "json")[0] and deadline:
                deadline -= 1
            self.assertGreater(deadline, 0)
            self.assertNotIn('"mine"', self.answer("history", "--format", "json")[0])
            out = self.ask("doctor", "--server", "own")[1]
            self.assertIn("cobra/socket answers", out)
            self.assertNotIn("used instead of", out)

    def test_who_may_not_ask_there_is_told_of_their_own(self):
        server = os.path.join(programs.BIN, "cobra-server")
        token = [server, "token", "--name", "ann", "--role", "ask", "--out", os.path.join(self.home, "token")]
        access = os.path.join(self.home, "access")
        with open(access, "w") as file:
            subprocess.run(token, stdout=file, check=True)
        with self.at_default_address("--access", access):
            code, _, err = self.ask("targets")
        self.assertEqual(code, 2, err)
        self.assertIn("127.0.0.1:50051 was asked because a server listens there: --server own asks", err)

    def test_what_listens_there_may_be_no_server(self):
        with socket.create_server(("127.0.0.1", 50051)) as other:
            other.listen()
            code, _, err = self.ask("targets", "--deadline-s", "2")
        self.assertNotEqual(code, 0, err)
        self.assertIn("--server own", err)

    def test_nothing_is_reported_to_who_has_none(self):
        with self.at_default_address():
            self.assertEqual(self.answer("targets")[1], "")
            self.assertNotIn("used instead of", self.ask("doctor")[1])
            code, _, err = self.ask("targets", "--server", "own", "--no-start")
            self.assertEqual(code, 3)
            self.assertIn("no server answers at unix:", err)
        self.assertFalse(os.path.exists(os.path.join(self.home, ".local/state/cobra/asked-server")))


if __name__ == "__main__":
    enter_network_of_its_own()
    unittest.main()
