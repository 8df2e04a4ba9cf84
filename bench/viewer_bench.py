"""What a viewer costs the loop, and what a recording costs: CPU time of the loop's thread for each
tick, without and with a client that reads every frame, and with --record, measured in turn.

python3 bench/viewer_bench.py build/release/bin/volvox [--modules 1000] [--seconds 3] [--rounds 3]"""
import argparse
import base64
import json
import os
import re
import socket
import statistics
import struct
import subprocess
import tempfile
import threading
import time


def connect(address):
    """A WebSocket, as far as it takes to say something and to read."""
    host, port = re.match(r"http://([^:/]+):(\d+)", address).groups()
    link = socket.create_connection((host, int(port)))
    key = base64.b64encode(os.urandom(16)).decode()
    link.sendall(f"GET /socket HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                 f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += link.recv(1)
    return link


def say(link, message):
    text = json.dumps(message).encode()
    link.sendall(bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text)


def read_frames(link, count):
    """Reads all that comes, as a browser would; counts the frames."""
    stream = link.makefile("rb", buffering=1 << 20)
    try:
        while head := stream.read(2):
            size = head[1] & 127
            if size == 126:
                size = struct.unpack(">H", stream.read(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", stream.read(8))[0]
            content = stream.read(size)
            count[0] += content[:4] == b"VXF1"
    except (OSError, ValueError, IndexError):
        pass


def loop_cpu_ms(arguments, way):
    """ms of the loop's thread for each tick, and how many frames were read."""
    with tempfile.TemporaryDirectory() as out:
        command = [arguments.program, "run", "remod3d/scatter", "--set", f"modules={arguments.modules}", "--duration", str(arguments.seconds), "--view", "--no-browser",
                   "--quiet", "--out", out] + (["--record"] if way == "recorded" else [])
        run = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        address = re.search(r"http:\S+", run.stderr.readline()).group()
        link = connect(address)
        say(link, {"type": "speed", "factor": 0})
        frames = [0]
        if way == "watched":
            threading.Thread(target=read_frames, args=(link, frames), daemon=True).start()
        else:
            time.sleep(0.2)
            link.close()
        cpu = lambda: int(open(f"/proc/{run.pid}/task/{run.pid}/schedstat").read().split()[0]) / 1e6
        begin, summary = cpu(), os.path.join(out, "report.html")
        while not os.path.exists(summary):
            time.sleep(0.02)
        spent = cpu() - begin
        run.terminate()
        run.wait()
        return spent / json.load(open(os.path.join(out, "summary.json")))["ticks"], frames[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--modules", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    found = {"alone": [], "watched": [], "recorded": []}
    for _ in range(arguments.rounds):
        for way, values in found.items():
            spent, frames = loop_cpu_ms(arguments, way)
            values.append(spent)
            print(f"{way:9} {spent:8.3f} ms a tick" + (f", {frames} frames read" if way == "watched" else ""), flush=True)
    alone = statistics.median(found["alone"])
    for way in ["watched", "recorded"]:
        value = statistics.median(found[way])
        print(f"{way} / alone = {value / alone:.3f}, {value - alone:+.3f} ms a tick")
