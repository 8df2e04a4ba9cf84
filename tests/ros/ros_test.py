"""A real roscore, the plugin 'ros', and rostopic: published topics can be read, and commands move a joint."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
VOLVOX, PLUGIN = os.path.abspath(sys.argv[1]), sys.argv[2]
if not os.path.exists(PLUGIN):
    print("skipped: the plugin 'ros' was not built (libroscpp-dev, libtf2-msgs-dev, libsensor-msgs-dev are needed)")
    sys.exit(SKIPPED)
# Debian's ROS tools need Debian's Python.
PATH = "/usr/bin:/bin"
if not shutil.which("roscore", path=PATH) or not shutil.which("rostopic", path=PATH):
    print("skipped: roscore or rostopic is not installed (python3-roslaunch, python3-rostopic, rosout)")
    sys.exit(SKIPPED)

from arm import WORLD, expect


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


with tempfile.TemporaryDirectory() as folder:
    environment = {**os.environ, "PATH": PATH, "ROS_MASTER_URI": f"http://127.0.0.1:{free_port()}", "ROS_HOSTNAME": "127.0.0.1", "ROS_HOME": folder,
                   "ROS_LOG_DIR": folder, "VOLVOX_PLUGIN_PATH": ""}
    world = pathlib.Path(folder, "world.sdf")
    world.write_text(WORLD.format(plugin='<plugin filename="volvox_ros" name="ros"><rate>25</rate></plugin>'))

    def rostopic(*arguments, limit=60):
        return subprocess.run(["rostopic", *arguments], env=environment, text=True, capture_output=True, timeout=limit).stdout

    command = [VOLVOX, "run", str(world), "--real-time", "--record", "--json", "--out", f"{folder}/out"]
    # Without a master the error says so.
    alone = subprocess.run(command, env=environment, text=True, capture_output=True, timeout=60)
    expect(alone.returncode == 2 and "no ROS master answers" in alone.stderr and "start roscore" in alone.stderr, f"a missing master is named: {alone.stderr}")

    started = []
    try:
        port = environment["ROS_MASTER_URI"].rsplit(":", 1)[1]
        started.append(subprocess.Popen(["roscore", "-p", port], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", int(port)), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        run = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        started.append(run)
        expect("secs" in rostopic("echo", "-n", "1", "/clock"), "/clock is published")
        topics = rostopic("list").split()
        for topic in ["/clock", "/joint_states", "/tf", "/arm/range", "/arm/gyro", "/arm/imu", "/particles", "/arm/neck/command"]:
            expect(topic in topics, f"{topic} is among {topics}")
        joints = rostopic("echo", "-n", "1", "/joint_states")
        expect("arm/neck" in joints and re.search(r"position: \[-?0\.0|position: \[-?\d\.\d+e-", joints), f"the joint is at rest: {joints}")
        frames = rostopic("echo", "-n", "1", "/tf")
        expect("arm/head" in frames and 'frame_id: "world"' in frames, "frames are published")
        scan = rostopic("echo", "-n", "1", "/arm/range")
        expect("range_max: 5.0" in scan and "ranges: [5.0, 5.0, 5.0]" in scan, f"a scan is published: {scan}")
        imu = rostopic("echo", "-n", "1", "/arm/imu/linear_acceleration/z")
        expect(abs(float(imu.split()[0]) - 9.81) < 0.1, f"the imu feels its weight: {imu}")
        cloud = rostopic("echo", "-n", "1", "--noarr", "/particles")
        width = int(re.search(r"width: (\d+)", cloud).group(1))
        expect(width >= 20 and "point_step: 16" in cloud and f"row_step: {16 * width}" in cloud and 'frame_id: "world"' in cloud, f"grains are a point cloud: {cloud}")
        fields = rostopic("echo", "-n", "1", "/particles/fields")
        expect(all(f'name: "{name}"' in fields for name in ["x", "y", "z", "rgb"]), f"its fields are named: {fields}")
        rostopic("pub", "-1", "/arm/neck/command", "std_msgs/Float64", "1.0")
        moved = rostopic("echo", "-n", "1", "/joint_states")
        position = float(re.search(r"position: \[([-0-9.e]+)\]", moved).group(1))
        expect(abs(position - 1) < 0.1, f"the command moved the joint to 1 rad: {position}")
        run.send_signal(signal.SIGINT)
        out, errors = run.communicate(timeout=60)
        report = json.loads(out)
        expect(report["status"] == "stopped" and report["reproducible"] == "with_inputs", f"the run ends on request: {report}")
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGINT)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
    # The recorded run replays without ROS.
    again = subprocess.run([VOLVOX, "replay", f"{folder}/out", "--verify", "--quiet"], env=environment, text=True, capture_output=True, timeout=120)
    expect(again.returncode == 0, f"it replays: {again.stdout}{again.stderr}")
print("ROS: clock, joints, frames, scan, particles and a command")
