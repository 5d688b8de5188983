#!/usr/bin/env python3
"""cobra-client writes to standard output and standard error in output.cc and progress.cc only,
which take out what a terminal would obey. A command that printed by itself could forget it."""
import os
import re
import unittest

CLIENT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "client")
WRITERS = {"output.cc", "progress.cc"}
# Whether a stream is a terminal, and the line that Ctrl-C erases.
LOOKS = {"terminal.cc", "watch_command.cc"}
STREAM = re.compile(r"\b(stdout|stderr|std::cout|std::cerr|std::clog|printf|puts|putchar)\b")
DESCRIPTOR = re.compile(r"\b(STDOUT_FILENO|STDERR_FILENO)\b")


def code_of(path):
    with open(path) as file:
        return [line.split("//")[0] for line in file]


class OutputSinkTest(unittest.TestCase):
    def test_only_the_sinks_write(self):
        paths = {name: folder for folder, _, names in os.walk(CLIENT) for name in names if name.endswith((".cc", ".h"))}
        self.assertGreater(len(paths), 100)
        self.assertLessEqual(WRITERS | LOOKS, set(paths))
        for name, folder in sorted(paths.items()):
            for number, line in enumerate(code_of(os.path.join(folder, name)), 1):
                with self.subTest(line=f"{folder}/{name}:{number}"):
                    self.assertTrue(name in WRITERS or not STREAM.search(line), line)
                    self.assertTrue(name in WRITERS | LOOKS or not DESCRIPTOR.search(line), line)


if __name__ == "__main__":
    unittest.main()
