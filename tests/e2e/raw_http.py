"""HTTP by hand, over a socket: also what no client library would send."""
import json
import socket


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def error(self):
        return self.json()["error"]


class Connection:
    """One connection to "HOST:PORT"; `wrap` makes TLS of its socket."""

    def __init__(self, address, wrap=None, timeout=60):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=timeout)
        if wrap:
            self.socket = wrap(self.socket)
        self.buffer = b""

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def more(self):
        data = self.socket.recv(65536)
        self.buffer += data
        return data

    def reply(self, of_head=False):
        """The next reply; None where the server has closed the connection."""
        while True:
            while b"\r\n\r\n" not in self.buffer:
                if not self.more():
                    assert not self.buffer, self.buffer
                    return None
            head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
            lines = head.decode().split("\r\n")
            status = int(lines[0].split(" ")[1])
            if status != 100:
                break
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
        length = 0 if of_head else int(headers.get("content-length", 0))
        while len(self.buffer) < length:
            assert self.more(), "the reply ends early"
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return Reply(status, headers, body)

    def closed(self):
        """Whether the server has closed the connection, or does within the timeout."""
        try:
            return not self.more()
        except ConnectionResetError:
            return True

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def request(method, path, body=b"", host="localhost", headers=()):
    """The bytes of one request. A header of None is left out."""
    body = body if isinstance(body, bytes) else body.encode()
    all_headers = {"Host": host}
    if body:
        all_headers["Content-Length"] = str(len(body))
        all_headers["Content-Type"] = "application/json"
    all_headers.update(headers)
    lines = [f"{method} {path} HTTP/1.1"] + [f"{k}: {v}" for k, v in all_headers.items() if v is not None]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def ask(address, *arguments, **options):
    """The reply to one request on a connection of its own."""
    with Connection(address) as connection:
        connection.send(request(*arguments, **options))
        return connection.reply(of_head=arguments[0] == "HEAD")
