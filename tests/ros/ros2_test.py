"""ROS 2 between two processes on the loopback address: a run with the plugin 'ros2', and a peer that reads its topics and
commands a joint."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

SKIPPED = 77
VOLVOX, PLUGIN, PEER = (os.path.abspath(argument) for argument in sys.argv[1:4])
if not os.path.exists(PLUGIN):
    print("skipped: the plugin 'ros2' was not built (cyclonedds-dev, cyclonedds-tools are needed)")
    sys.exit(SKIPPED)

from arm import WORLD, expect

# No multicast, and a domain that no other program uses.
PEER_CONFIGURATION = ("<CycloneDDS><Domain id='any'><General><Interfaces><NetworkInterface address='127.0.0.1'/></Interfaces>"
                      "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
                      "<MaxAutoParticipantIndex>32</MaxAutoParticipantIndex><Peers><Peer address='127.0.0.1'/></Peers></Discovery></Domain></CycloneDDS>")
DOMAIN = str(100 + os.getpid() % 100)

with tempfile.TemporaryDirectory() as folder:
    environment = {**os.environ, "VOLVOX_PLUGIN_PATH": "", "ROS_DOMAIN_ID": DOMAIN}
    environment.pop("CYCLONEDDS_URI", None)
    world = pathlib.Path(folder, "world.sdf")

    def command(parameters="<rate>25</rate>"):
        world.write_text(WORLD.format(plugin=f'<plugin filename="volvox_ros2" name="ros2">{parameters}</plugin>'))
        return [VOLVOX, "run", str(world), "--real-time", "--record", "--json", "--out", f"{folder}/out"]

    # Errors name the cause.
    for parameters, changes, words in [("<interface>no such thing</interface>", {}, "network interface"), ("<interface>nothing0</interface>", {}, "DDS does not start"),
                                       ("<domain>x</domain>", {}, "domain"), ("", {"ROS_DOMAIN_ID": "home"}, "ROS_DOMAIN_ID is not a number")]:
        bad = subprocess.run(command(parameters), env={**environment, **changes}, text=True, capture_output=True, timeout=60)
        expect(bad.returncode == 2 and words in bad.stderr, f"{parameters} {changes} is refused with '{words}': {bad.returncode} {bad.stderr}")

    run = subprocess.Popen(command(), env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        peer = subprocess.run([PEER, DOMAIN], env={**environment, "CYCLONEDDS_URI": PEER_CONFIGURATION}, text=True, capture_output=True, timeout=300)
        expect(peer.returncode == 0, f"the peer succeeds: {peer.stdout}{peer.stderr}")
        run.send_signal(signal.SIGINT)
        out, errors = run.communicate(timeout=60)
        report = json.loads(out)
        expect(report["status"] == "stopped" and report["reproducible"] == "with_inputs", f"the run ends on request: {report} {errors}")
    finally:
        if run.poll() is None:
            run.kill()
            print(run.communicate()[1], file=sys.stderr)
    # The recorded run replays without DDS.
    again = subprocess.run([VOLVOX, "replay", f"{folder}/out", "--verify", "--quiet"], env=environment, text=True, capture_output=True, timeout=120)
    expect(again.returncode == 0, f"it replays: {again.stdout}{again.stderr}")
print(peer.stdout.strip())
