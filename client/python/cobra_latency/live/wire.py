"""Parts of a message as bytes of protobuf's wire format. What is written part by part costs a tenth
of the same in protobuf's own objects, and a graph is some thousand parts."""
from __future__ import annotations

from typing import Any, List

_LENGTH = 2  # the wire type of text and of messages: their length comes before them


def varint(number: int) -> bytes:
    """A number, seven bits a byte.

    >>> varint(5), varint(300)
    (b'\\x05', b'\\xac\\x02')
    """
    if number < 128:
        return _BYTES[number]
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


_BYTES: List[bytes] = [bytes([number]) for number in range(128)]


class Field:
    """One field of a kind of message.

    >>> from cobra_latency._proto import graph_pb2
    >>> Field(graph_pb2.Node, "op").text("relu") + Field(graph_pb2.Node, "inplace").number(True)
    b'\\n\\x04relu(\\x01'
    """

    def __init__(self, message: Any, name: str) -> None:
        number = message.DESCRIPTOR.fields_by_name[name].number
        self._number = varint(number << 3)
        self._length = varint(number << 3 | _LENGTH)

    def number(self, value: int) -> bytes:
        """A number that is not negative; nothing for 0."""
        return self._number + varint(value) if value else b""

    def message(self, value: bytes) -> bytes:
        """An encoded message; one element of a list of them."""
        return self._length + varint(len(value)) + value

    def text(self, value: str) -> bytes:
        """Text; nothing if it is empty."""
        return self.message(value.encode()) if value else b""
