"""HTTP/2 by hand (RFC 9113), to send what no gRPC library would: calls without a message, messages
without an end, compressed ones."""
import socket
import struct
import time
import zlib

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4
INITIAL_WINDOW_SIZE = 4


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """HPACK (RFC 7541, 6.2.2): a header that is not indexed, neither its name nor its value
    compressed."""

    def text(data):
        data = data if isinstance(data, bytes) else data.encode()
        length = len(data)
        if length < 127:
            return bytes([length]) + data
        digits, length = bytes([127]), length - 127
        while length >= 128:
            digits, length = digits + bytes([length % 128 + 128]), length // 128
        return digits + bytes([length]) + data

    return b"\0" + text(name) + text(value)


def call_headers(path, *extra):
    usual = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost")]
    return b"".join(
        literal(*each) for each in [*usual, ("content-type", "application/grpc"), ("te", "trailers"), *extra]
    )


def message(payload, compressed=False, length=None):
    """gRPC's framing. `length`: what it says of itself."""
    return struct.pack(">BI", compressed, len(payload) if length is None else length) + payload


def zeros(megabytes, wbits=31):
    """So many of them, compressed to a thousandth. 31: gzip, 15: deflate."""
    pack, block = zlib.compressobj(9, zlib.DEFLATED, wbits), bytes(1 << 20)
    return b"".join([pack.compress(block) for _ in range(megabytes)] + [pack.flush()])


class Connection:
    def __init__(self, address, timeout=10, window=65535):
        """`window`: how many bytes of a reply it takes before it is asked."""
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=timeout)
        settings = struct.pack(">HI", INITIAL_WINDOW_SIZE, window)
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0, settings))
        self.window, self.windows, self.initial, self.unread, self.stream = 65535, {}, 65535, b"", -1
        self.frames = []  # of calls: (kind, flags, stream, payload)
        self.is_open = True

    def close(self):
        self.socket.close()

    def open(self, path, *extra, end=False):
        """Sends a call's headers; its stream."""
        self.stream += 2
        self.windows[self.stream] = self.initial
        flags = END_HEADERS | (END_STREAM if end else 0)
        self.socket.sendall(frame(HEADERS, flags, self.stream, call_headers(path, *extra)))
        return self.stream

    def data(self, stream, payload, end=False, seconds=10):
        """Sends it as flow control allows; how much was sent."""
        sent, until = 0, time.monotonic() + seconds
        while sent < len(payload):
            part = min(16384, self.window, self.windows[stream], len(payload) - sent)
            if part <= 0:
                if time.monotonic() > until or not self.pump(0.2) or self.is_over(stream):
                    return sent
                continue
            last = end and sent + part == len(payload)
            try:
                self.socket.sendall(frame(DATA, END_STREAM if last else 0, stream, payload[sent : sent + part]))
            except OSError:
                self.is_open = False
                return sent
            sent, self.window = sent + part, self.window - part
            self.windows[stream] -= part
            if sent % (1 << 20) < 16384:
                self.pump(0)
        return sent

    def pump(self, seconds):
        """Takes what has come; False once the connection is closed."""
        self.socket.settimeout(max(seconds, 1e-6))
        try:
            received = self.socket.recv(1 << 20)
            self.is_open = self.is_open and bool(received)
            self.unread += received
        except (socket.timeout, BlockingIOError):
            pass
        except OSError:
            self.is_open = False
        self.socket.settimeout(10)
        while len(self.unread) >= 9:
            length = int.from_bytes(self.unread[:3], "big")
            if len(self.unread) < 9 + length:
                break
            kind, flags, stream = self.unread[3], self.unread[4], int.from_bytes(self.unread[5:9], "big") & 0x7FFFFFFF
            payload, self.unread = self.unread[9 : 9 + length], self.unread[9 + length :]
            self._take(kind, flags, stream, payload)
        return self.is_open

    def _take(self, kind, flags, stream, payload):
        try:
            if kind == SETTINGS and not flags & ACK:
                for at in range(0, len(payload), 6):
                    name, value = struct.unpack(">HI", payload[at : at + 6])
                    if name == INITIAL_WINDOW_SIZE:
                        self.windows = {each: left + value - self.initial for each, left in self.windows.items()}
                        self.initial = value
                self.socket.sendall(frame(SETTINGS, ACK, 0))
            elif kind == PING and not flags & ACK:
                self.socket.sendall(frame(PING, ACK, 0, payload))
            elif kind == WINDOW_UPDATE:
                more = int.from_bytes(payload, "big") & 0x7FFFFFFF
                if stream == 0:
                    self.window += more
                else:
                    self.windows[stream] = self.windows.get(stream, self.initial) + more
            elif kind in (DATA, HEADERS, RST_STREAM, GOAWAY):
                self.frames.append((kind, flags, stream, payload))
        except OSError:
            self.is_open = False

    def is_over(self, stream):
        return any(
            kind == GOAWAY or (of == stream and (kind == RST_STREAM or (kind == HEADERS and flags & END_STREAM)))
            for kind, flags, of, _ in self.frames
        )

    def await_end(self, stream, seconds=20):
        """The call's trailers as bytes; b"" if there were none."""
        until = time.monotonic() + seconds
        while not self.is_over(stream) and time.monotonic() < until and self.pump(0.2):
            pass
        ends = [p for k, flags, of, p in self.frames if k == HEADERS and of == stream and flags & END_STREAM]
        return ends[0] if ends else b""


def status_of(trailers):
    """grpc-status of what await_end() returns; None if it has none."""
    name = b"grpc-status"
    at = trailers.find(name)
    if at < 0:
        return None
    length = trailers[at + len(name)]
    return int(trailers[at + len(name) + 1 : at + len(name) + 1 + length])
