"""A person who looks at a run through its viewer, for the tests written in Python."""
import json
import socket
import struct

KEY = "dm9sdm94IHZvbHZveCB2bw=="


class Watcher:
    """A WebSocket client, without a library: it must also be able to misbehave."""

    def __init__(self, port, query):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.received = b""
        self.connection.sendall(
            f"GET /socket{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.received:
            self.more()
        self.answer, self.received = self.received.split(b"\r\n\r\n", 1)

    def more(self):
        bytes = self.connection.recv(1 << 20)
        if not bytes:
            raise ConnectionError("closed")
        self.received += bytes

    def take(self, size):
        while len(self.received) < size:
            self.more()
        taken, self.received = self.received[:size], self.received[size:]
        return taken

    def message(self):
        """The next message: text, or bytes; a close raises ConnectionError."""
        while True:
            first, size = self.take(2)
            if size == 126:
                size = struct.unpack(">H", self.take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.take(8))[0]
            content = self.take(size)
            if first & 15 == 8:
                raise ConnectionError(content[2:].decode(errors="replace"))
            if first & 15 == 9:
                self.send(content, 10)  # a client that does not answer is dropped after half a minute
            if first & 15 in (1, 2):
                return content.decode() if first & 15 == 1 else content

    def texts(self, kind):
        """Endless: the messages of this type."""
        while True:
            message = self.message()
            if isinstance(message, str) and (message := json.loads(message))["type"] == kind:
                yield message

    def send(self, text, opcode=1):
        text = text if isinstance(text, bytes) else text.encode()
        size = bytes([0x80 | len(text)]) if len(text) < 126 else bytes([0x80 | 126]) + struct.pack(">H", len(text)) \
            if len(text) < 65536 else bytes([0x80 | 127]) + struct.pack(">Q", len(text))
        self.connection.sendall(bytes([0x80 | opcode]) + size + bytes(4) + text)  # masked with zeros

    def close(self):
        self.connection.close()
