"""What tests of ranks share: the command, started by a real mpirun."""
import os
import pathlib
import shutil
import subprocess
import unittest

from command import CommandTest

MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun here (openmpi-bin)")
class MpiTest(CommandTest):
    def setUp(self):
        super().setUp()
        if not (pathlib.Path(self.program).parent.parent / "lib/volvox/libvolvox_mpi.so").is_file():
            self.skipTest("Volvox was built without MPI (libopenmpi-dev)")

    def start(self, ranks, *arguments, through=(), **environment):
        """`through`: a command that starts the program on each rank."""
        return subprocess.Popen(["mpirun", "--oversubscribe", "-n", str(ranks), *through, self.program, *arguments], cwd=self.folder, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **MPI, **environment}, start_new_session=True)

    def mpirun(self, ranks, *arguments, status=0, **more):
        process = self.start(ranks, *arguments, **more)
        out, errors = process.communicate(timeout=400)
        self.assertEqual(process.returncode, status, out + errors)
        return out, errors
