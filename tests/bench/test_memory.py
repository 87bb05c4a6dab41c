"""Memory of runs over weights depends on the number of threads, not on the size of the file."""
import json
import os
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import TMETER, CliTest, main  # noqa: E402

KIB_OF_A_THREAD = 5 * 1024  # per thread: 2 MiB of the file, a table of 512 KiB, the stack
KIB_MAPPED_BETWEEN_PASSES = 48 * 1024
MEASURE = ("import resource,subprocess,sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")


class Weights(CliTest):
    def sparse(self, name, count, size):
        """`count` bfloat16 tensors of `size` bytes each: holes of the file, which read as zeros."""
        entries = {f"w{i}": {"dtype": "BF16", "shape": [1 << 10, size >> 11], "data_offsets": [i * size, (i + 1) * size]}
                   for i in range(count)}
        text = json.dumps(entries).encode()
        path = self.file(name, struct.pack("<Q", len(text)) + text)
        os.truncate(path, path.stat().st_size + count * size)
        return path

    def peak(self, path, *arguments):
        """KiB, the least of three runs."""
        peaks = []
        for _ in range(3):
            done = subprocess.run([sys.executable, "-c", MEASURE, TMETER, *arguments, path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            peaks.append(int(done.stdout))
        return min(peaks)

    def statistics(self, path, threads):
        return self.peak(path, "--plugins=param-stats", "--threads", str(threads))

    def test_no_weight_is_read_unless_a_plugin_requests_it(self):
        self.assertLess(self.peak(self.sparse("large.safetensors", 1, 4 << 30)), self.peak(self.sparse("small.safetensors", 1, 1 << 16)) + 20_000)

    def test_many_threads_take_little_memory_each(self):
        path = self.sparse("one.safetensors", 1, 1 << 29)  # 32 parts, so at most 32 threads
        self.assertLess(self.statistics(path, 64), self.statistics(path, 2) + 32 * KIB_OF_A_THREAD)

    def test_parts_that_stay_mapped_between_two_passes_are_bounded(self):
        small = self.sparse("small.safetensors", 1, 1 << 16)
        files = self.sparse("one.safetensors", 1, 1 << 29), self.sparse("many.safetensors", 64, 1 << 24)
        for threads in (2, 16):
            bound = self.statistics(small, threads) + KIB_MAPPED_BETWEEN_PASSES + 8 * 1024 + threads * KIB_OF_A_THREAD
            for path in files:
                self.assertLess(self.statistics(path, threads), bound, (path.name, threads))


if __name__ == "__main__":
    main()
