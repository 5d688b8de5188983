"""A program on a terminal of its own: what is drawn on it, and what is typed there."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import programs

ESCAPE = re.compile(r"\033\[[0-9;]*[A-Za-z]")


class Terminal:
    """Runs `command` with standard input, output and error on a terminal, unless `stdout` names a
    file for its output."""

    def __init__(self, command, columns=100, stdout=None, cwd=None, **environment):
        self.leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        environment = {"TERM": "xterm", **environment}
        kept = {
            k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "COBRA_SERVER")
        }
        self.text = ""
        self.process = subprocess.Popen(
            command,
            stdin=follower,
            stdout=follower if stdout is None else stdout,
            stderr=follower,
            cwd=cwd,
            env={**kept, **environment},
            start_new_session=True,  # the terminal is its own, so that Ctrl-C reaches it alone
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(follower)

    def read(self, seconds):
        """Whether more has come within the time."""
        if not select.select([self.leader], [], [], seconds)[0]:
            return False
        try:
            chunk = os.read(self.leader, 65536)
        except OSError:  # the other end is closed
            return False
        self.text += chunk.decode(errors="replace")
        return bool(chunk)

    def wait_for(self, pattern, seconds=60, start=0):
        """Reads until the pattern is there, after the first `start` characters."""
        deadline = time.time() + seconds
        while not re.search(pattern, self.text[start:]):
            if time.time() > deadline or (not self.read(0.1) and self.process.poll() is not None and not self.read(0)):
                raise AssertionError(f"{pattern!r} did not come:\n{self.text[start:]}")
        return self.text

    def type(self, text):
        os.write(self.leader, text.encode())

    def end(self, seconds=60):
        """Reads to the end; the exit code."""
        deadline = time.time() + seconds
        while time.time() < deadline:
            if not self.read(0.1) and self.process.poll() is not None:
                while self.read(0):
                    pass
                return self.process.returncode
        raise AssertionError("it does not end:\n" + self.text)

    @property
    def lines(self):
        """What a reader sees at the end: without colours and without what was drawn over."""
        lines = []
        for line in self.text.replace("\r\n", "\n").split("\n"):
            lines.append(ESCAPE.sub("", line.split("\r\033[K")[-1]))
        return lines

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.leader)


def client(*arguments, **options):
    return Terminal([os.path.join(programs.BIN, "cobra-client"), *arguments], **options)
