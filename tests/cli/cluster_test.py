"""volvox evolve and sweep as ranks of a real mpirun and as tasks of a real Slurm: the same winners at any number of ranks, and after a kill."""
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import TASK, CommandTest
from mpirun import MPI, MpiTest


def descendants(process):
    """All processes below one, by their numbers, with what they run."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                pass
    found, new = set(), {process}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - found
        found |= new
    return sorted(found)


class Cluster(CommandTest):
    def task(self, **changes):
        return self.write("t/task.json", json.dumps({**TASK, **changes}, indent=1))

    def arguments(self, task, out, *more):
        return ["evolve", str(task), "--json", "--gallery", "0", "--threads", "1", "--out", out, *map(str, more)]

    def alone(self, task, out, *more):
        return json.loads(self.run_program(*self.arguments(task, out, *more)).stdout)

    def assert_same(self, found, out, first, first_out):
        self.assertEqual((found["state_hash"], found["best_fitness"], found["trials"]), (first["state_hash"], first["best_fitness"], first["trials"]))
        self.assertEqual(self.read(out, "evolution.json"), self.read(first_out, "evolution.json"))


class Mpi(Cluster, MpiTest):
    def test_the_same_winners_at_any_number_of_ranks(self):
        task = self.task()
        first = self.alone(task, "a")
        for ranks in [1, 2, 4]:
            found = json.loads(self.mpirun(ranks, *self.arguments(task, f"r{ranks}"))[0])
            self.assert_same(found, f"r{ranks}", first, "a")
            self.assertEqual(found["ranks"], ranks)
            if ranks > 1:
                self.assertEqual(sum(found["pieces_by_rank"]), 4 * 8, "every genome once")
                self.assertGreater(min(found["pieces_by_rank"]), 0, "all ranks work")

    def test_a_kill_of_any_rank_or_of_all(self):
        task = self.task(algorithm={"name": "ga", "population": 16, "generations": 5})
        first = self.alone(task, "a")
        draw = random.Random(7)
        kills, found = 0, None
        for attempt in range(40):
            there = os.path.exists(os.path.join(self.folder, "k", "evolution.json"))
            process = self.start(draw.choice([2, 4]), *self.arguments(task, "k", *(["--resume"] if there else [])))
            try:
                out, _ = process.communicate(timeout=0.25 * 1.25**attempt + draw.uniform(0, 0.25))  # the first is shorter than a run on any machine
                found = json.loads(out)
                break
            except subprocess.TimeoutExpired:
                ranks = descendants(process.pid)
                kills += 1
                if attempt % 2 and ranks:
                    os.kill(draw.choice(ranks), signal.SIGKILL)  # a rank, or a child of one
                    try:
                        out, _ = process.communicate(timeout=60)
                        if process.returncode == 0:  # a child died: its genomes were tried again
                            found = json.loads(out)
                            break
                    except subprocess.TimeoutExpired:
                        self.fail("the others wait for a rank that is dead")
                else:
                    for one in [process.pid, *ranks]:
                        try:
                            os.kill(one, signal.SIGKILL)
                        except ProcessLookupError:
                            pass
                    process.communicate()
        self.assertGreater(kills, 0)
        self.assert_same(found, "k", first, "a")

    def test_ctrl_c_leaves_a_state(self):
        task = self.task()
        endless = self.start(2, *self.arguments(task, "s", "--generations", 100000))
        state = os.path.join(self.folder, "s", "evolution.json")
        for _ in range(1200):
            if os.path.exists(state) and len(json.loads(self.read("s", "evolution.json"))["content"]["history"]) > 0:
                break
            time.sleep(0.05)
        endless.send_signal(signal.SIGINT)
        endless.communicate(timeout=60)
        self.assertNotEqual(endless.returncode, 0)
        so_far = len(json.loads(self.read("s", "evolution.json"))["content"]["history"])
        found = json.loads(self.mpirun(2, *self.arguments(task, "s", "--resume", "--generations", so_far + 1))[0])
        self.assertEqual(found["generations"], so_far + 1)

    def test_sweep(self):
        arguments = ["sweep", "remod3d/snake", "--vary", "modules=3,4", "--seeds", "3", "--duration", "0.5", "--json"]
        hashes = lambda text: [(run["run"], run["state_hash"], run["status"]) for run in json.loads(text)["results"]]
        alone = hashes(self.run_program(*arguments, "--out", "a").stdout)
        for ranks in [2, 4]:
            out, _ = self.mpirun(ranks, *arguments, "--jobs", "1", "--out", f"r{ranks}")
            self.assertEqual(hashes(out), alone)

    def test_without_the_library(self):
        _, errors = self.mpirun(2, *self.arguments(self.task(), "x"), status=2, VOLVOX_MPI_LIBRARY="/nowhere/libvolvox_mpi.so")
        self.assertIn("built without MPI", errors)
        self.assertIn("--ranks none", errors)
        self.assertIn("not started by mpirun", self.run_program("evolve", self.task(), "--ranks", "mpi", status=2).stderr)
        self.assertIn("no task of Slurm", self.run_program("sweep", "remod3d/snake", "--ranks", "slurm", status=2).stderr)


class Journal(Cluster):
    def test_what_was_tried_is_not_tried_again(self):
        task = self.task(trial={"duration": 3, "count": 2})
        first = self.alone(task, "a", "--generations", 1)
        process = subprocess.Popen([self.program, *self.arguments(task, "k", "--generations", 1, "--jobs", 2)], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        journal = os.path.join(self.folder, "k", "generation.jsonl")
        for _ in range(3000):
            if os.path.exists(journal) and pathlib.Path(journal).read_text().count("\n") >= 3:
                break
            time.sleep(0.01)
        process.kill()
        process.communicate()
        tried = pathlib.Path(journal).read_text().count("\n")
        self.assertGreaterEqual(tried, 3)
        with open(journal, "a") as file:
            file.write('{"genome": "cut o')
        found = self.alone(task, "k", "--generations", 1, "--jobs", 2, "--resume")
        self.assert_same(found, "k", first, "a")
        self.assertEqual(sum(found["pieces_by_rank"]), 8 - tried)
        self.assertFalse(os.path.exists(journal))


class Array(Cluster):
    """Two tasks of an array as Slurm would start them, each of which can be stopped by itself."""
    SWEEP = ["sweep", "remod3d/snake", "--set", "modules=6", "--vary", "amplitude=0.1,0.2,0.3,0.4", "--seeds", "2", "--duration", "3", "--json"]

    def start(self, rank, *arguments):
        place = {"ARRAY_TASK_ID": rank, "ARRAY_TASK_MIN": 0, "ARRAY_TASK_MAX": 1, "ARRAY_JOB_ID": 7}
        process = subprocess.Popen([self.program, *arguments, "--jobs", "1", "--ranks", "slurm", "--out", "s"], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**os.environ, **{"SLURM_" + name: str(value) for name, value in place.items()}, "VOLVOX_RANKS_PATIENCE": "2"})
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def wait_until(self, what, true):
        for _ in range(2400):
            if true():
                return
            time.sleep(0.05)
        self.fail(what)

    def results(self, text):
        return [(run["run"], run["state_hash"], run["status"]) for run in json.loads(text)["results"]]

    def runs(self):
        folder = os.path.join(self.folder, "s", "runs")
        return os.listdir(folder) if os.path.isdir(folder) else []

    def test_the_first_task_is_stopped_and_started_again(self):
        alone = self.results(self.run_program(*self.SWEEP, "--out", "a").stdout)
        first, second = self.start(0, *self.SWEEP), self.start(1, *self.SWEEP)
        self.wait_until("a run is done", lambda: any(not name.endswith(".unfinished") for name in self.runs()))
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=60)
        self.assertEqual(first.returncode, 1)
        time.sleep(3)
        self.assertIsNone(second.poll(), "it waits")
        out, errors = self.start(0, *self.SWEEP).communicate(timeout=120)
        self.assertEqual(self.results(out), alone, errors)
        second.communicate(timeout=60)
        self.assertEqual(second.returncode, 0)
        letters = [str(file) for file in pathlib.Path(self.folder, "s", "ranks", "7", "to_1").iterdir()]
        self.assertEqual(letters, [], "nothing waits for whoever is started later")

    def test_a_task_that_is_suspended_and_wakes_too_late(self):
        """Frozen with its child, as a laptop or a cluster's scheduler does it: the others do its run, and what it makes of it later is dropped."""
        # Runs that take a while, and the second task first: on a busy machine the first would have done all of short ones before the second is there.
        sweep = ["60" if word == "3" else word for word in self.SWEEP]
        alone = self.results(self.run_program(*sweep, "--out", "a").stdout)
        second, first = self.start(1, *sweep), self.start(0, *sweep)
        self.wait_until("the second task works", lambda: descendants(second.pid))
        frozen = [second.pid, *descendants(second.pid)]
        for process in frozen:
            os.kill(process, signal.SIGSTOP)
        self.addCleanup(lambda: [os.kill(process, signal.SIGCONT) for process in frozen if os.path.exists(f"/proc/{process}")])
        out, errors = first.communicate(timeout=120)
        self.assertEqual(self.results(out), alone, errors)
        before = {name: self.read("s", "runs", name, "summary.json") for name in self.runs()}
        for process in frozen:
            os.kill(process, signal.SIGCONT)
        second.communicate(timeout=60)
        self.assertEqual({name: self.read("s", "runs", name, "summary.json") for name in self.runs()}, before, "nothing is left of it")


SLURM_CONF = """ClusterName=volvox
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldPort={port1}
SlurmdPort={port2}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Slurm(Cluster):
    """One node, with munge, in a folder of its own."""
    daemons = []

    @classmethod
    def setUpClass(cls):
        for program in ["munged", "slurmctld", "slurmd", "srun", "sbatch"]:
            if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
                raise unittest.SkipTest(f"no {program} here (slurm-wlm, munge)")
        if os.getuid() != 0:
            raise unittest.SkipTest("slurmd runs as root only")
        cls.place = tempfile.TemporaryDirectory(prefix="volvox_slurm_")
        place = cls.place.name
        os.chmod(place, 0o755)
        for name in ["state", "spool"]:
            os.mkdir(os.path.join(place, name))
        key = os.path.join(place, "munge.key")
        with open(key, "wb") as file:
            file.write(os.urandom(1024))
        os.chmod(key, 0o400)
        conf = os.path.join(place, "slurm.conf")
        with open(conf, "w") as file:
            file.write(SLURM_CONF.format(host=socket.gethostname().split(".")[0], user="root", folder=place, port1=free_port(), port2=free_port()))
        os.environ["SLURM_CONF"] = conf
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        log = cls.enterClassContext(open(os.path.join(place, "daemons.log"), "w"))
        for command in [["munged", "--foreground", "--force", f"--socket={place}/munge.socket", f"--key-file={key}", f"--pid-file={place}/munged.pid",
                         f"--log-file={place}/munged.log", f"--seed-file={place}/munged.seed"], ["slurmctld", "-D", "-c"], ["slurmd", "-D"]]:
            cls.daemons.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=place))
            time.sleep(1)
        for _ in range(60):
            done = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True)
            if done.stdout.strip() == "idle":
                return
            time.sleep(1)
        said = pathlib.Path(place, "daemons.log").read_text()[-1500:] + "".join(file.read_text()[-800:] for file in pathlib.Path(place).glob("slurm*.log"))
        cls.tearDownClass()
        raise unittest.SkipTest("Slurm does not start here:\n" + said)

    @classmethod
    def tearDownClass(cls):
        for daemon in reversed(cls.daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
        cls.daemons = []
        os.environ.pop("SLURM_CONF", None)
        cls.place.cleanup()

    def srun(self, tasks, *arguments, status=0, options=(), **environment):
        done = subprocess.run(["srun", "-n", str(tasks), *options, self.program, *arguments], cwd=self.folder, text=True, capture_output=True, timeout=240,
                              stdin=subprocess.DEVNULL, env={**os.environ, **environment})
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_srun(self):
        task = self.task()
        first = self.alone(task, "a")
        for tasks in [2, 4]:
            found = json.loads(self.srun(tasks, *self.arguments(task, f"r{tasks}")).stdout)
            self.assert_same(found, f"r{tasks}", first, "a")
            self.assertEqual((found["ranks"], sum(found["pieces_by_rank"])), (tasks, 32))
        self.assertIn("--out", self.srun(2, "evolve", str(task), status=2).stderr)
        if (pathlib.Path(self.program).parent.parent / "lib/volvox/libvolvox_mpi.so").is_file():
            found = json.loads(self.srun(2, *self.arguments(task, "pmix"), options=["--mpi=pmix"], **MPI).stdout)
            self.assert_same(found, "pmix", first, "a")
            self.assertFalse(os.path.exists(os.path.join(self.folder, "pmix", "ranks")), "they are ranks of MPI")

    def task_of_slurm(self, rank):
        """The process of a task of this Slurm; its own children, which have the same environment, are none."""
        is_ours = lambda pid: os.path.realpath(self.program) == os.readlink(f"/proc/{pid}/exe")
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if not entry.name.isdigit() or not is_ours(entry.name):
                    continue
                environment = (entry / "environ").read_bytes().split(b"\0")
                parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[1]
                if f"SLURM_PROCID={rank}".encode() in environment and f"SLURM_CONF={os.environ['SLURM_CONF']}".encode() in environment and not is_ours(parent):
                    return int(entry.name)
            except OSError:
                pass
        return None

    def test_a_task_that_is_killed_is_replaced(self):
        task = self.task(trial={"duration": 2, "count": 2}, algorithm={"name": "ga", "population": 16, "generations": 3})
        first = self.alone(task, "a")
        process = subprocess.Popen(["srun", "-n", "4", "--kill-on-bad-exit=0", self.program, *self.arguments(task, "k")], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "VOLVOX_RANKS_PATIENCE": "3"})
        victim = None
        for _ in range(600):  # a rank that is not the first, once it works
            victim = self.task_of_slurm(2)
            if victim and os.path.exists(os.path.join(self.folder, "k", "generation.jsonl")):
                break
            time.sleep(0.1)
        self.assertIsNotNone(victim)
        os.kill(victim, signal.SIGKILL)
        out, errors = process.communicate(timeout=240)
        found = json.loads(out)
        self.assert_same(found, "k", first, "a")

    def test_a_job_array(self):
        task = self.task()
        first = self.alone(task, "a")
        quoted = " ".join(f"'{word}'" for word in [self.program, *self.arguments(task, "array", "--ranks", "slurm")])
        script = self.write("job.sh", f"#!/bin/sh\ncd '{self.folder}'\n{quoted} > out_$SLURM_ARRAY_TASK_ID.txt 2> err_$SLURM_ARRAY_TASK_ID.txt\n")
        subprocess.run(["sbatch", "--wait", "--array=0-2", "-o", "/dev/null", script], cwd=self.folder, check=True, capture_output=True, timeout=240)
        errors = "".join(self.read(f"err_{i}.txt") for i in range(3))
        found = json.loads(self.read("out_0.txt"))
        self.assert_same(found, "array", first, "a")
        self.assertEqual(found["ranks"], 3, errors)

    def test_sweep(self):
        arguments = ["sweep", "remod3d/snake", "--vary", "modules=3,4", "--seeds", "3", "--duration", "0.5", "--json"]
        hashes = lambda text: [(run["run"], run["state_hash"], run["status"]) for run in json.loads(text)["results"]]
        alone = hashes(self.run_program(*arguments, "--out", "a").stdout)
        self.assertEqual(hashes(self.srun(3, *arguments, "--jobs", "1", "--out", "r3").stdout), alone)


if __name__ == "__main__":
    CommandTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
