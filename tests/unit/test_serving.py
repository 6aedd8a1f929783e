"""What a serving process sets for itself."""

import subprocess
import sys

import pytest

HEAPS = """
import ctypes, threading
from stello_graph.serving import _share_memory

if SHARE:
    _share_memory()
held = threading.Barrier(8)

def hold():
    taken = [b"x" * n for n in range(1_000, 20_000, 100)]
    held.wait()

threads = [threading.Thread(target=hold) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc = ctypes.CDLL(None)
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""


@pytest.mark.skipif(sys.platform != "linux" or sys.implementation.name != "cpython", reason="glibc's malloc")
def test_threads_share_one_heap() -> None:
    """Else each thread that ever answered keeps what it took."""

    def heaps(share: bool) -> int:
        script = HEAPS.replace("SHARE", str(share))
        told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        return told.stdout.count("<heap ")

    assert heaps(share=True) == 1
    assert heaps(share=False) > 1
