"""The notebooks in docs/notebooks, executed by a real kernel; and Ctrl-C in one."""

import os
import queue
import time
from pathlib import Path

import nbclient
import nbformat
import pytest
from jupyter_client.manager import start_new_kernel

SOURCE = Path(os.environ["SOURCE"])
NOTEBOOKS = sorted((SOURCE / "docs/notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def tour():
    """The outputs of the tour's cells, by the first line of their code."""
    notebook = nbformat.read(SOURCE / "docs/notebooks/tour.ipynb", 4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {cell.source.splitlines()[0]: cell.outputs for cell in code}


def shown(tour, start, kind):
    (outputs,) = [o for line, o in tour.items() if line.startswith(start)]
    if kind == "text":
        return "".join(o.get("text", "") for o in outputs)
    return outputs[-1]["data"][kind]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_are_committed_without_outputs(path):
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells)


# The net of the tour: stem 32 · 27 · 32²; three blocks 32 · 32 · 9 · 32²; head 32 · 10.
MACS = 32 * 27 * 1024 + 3 * 32 * 32 * 9 * 1024 + 320


def test_tables(tour):
    table = shown(tour, "result.modules", "text/html")
    assert "<table" in table and "blocks.1.conv" in table and str(MACS) in table
    assert "memory-peak" in shown(tour, "result.findings", "text/html")
    assert shown(tour, "class Block", "text/plain").startswith(f"({MACS}, ")
    assert "blocks.0.conv.weight" in shown(tour, "weights = ", "text/html")


def test_a_result_is_a_summary(tour):
    data = tour["result"][-1]["data"]
    assert "29,196,608" in data["text/plain"] and "29,196,608 MAC" in data["text/html"]
    assert "blocks" in data["text/html"]


def test_the_report_and_the_difference_are_pages_in_frames(tour):
    assert "+172.4 %" in shown(tour, "wider = ", "text/plain")
    for cell in ("result.page()", "wider = "):
        page = shown(tour, cell, "text/html")
        assert page.startswith("<iframe srcdoc=") and "allow-same-origin" not in page


def test_serving_32_users_at_32k():
    """Llama 3.1 8B: 8,030,261,248 parameters of 2 bytes; 131,072 bytes of bf16 a token, half of that in fp8. vLLM takes 0.92 of a card, and
    needs a number of cards that divides the 32 heads and the 8 heads of keys and values."""
    notebook = nbformat.read(SOURCE / "docs/notebooks/serve.ipynb", 4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = {c.source.splitlines()[-1]: c.outputs[-1] for c in notebook.cells if c.get("outputs")}
    findings = next(o["text"] for line, o in outputs.items() if line.startswith("print"))
    table = outputs["table"]["data"]["text/html"]
    assert "serving 32 sequences of 32768 tokens does not fit into 68.55 GiB" in findings
    cells = [line.strip() for line in table.splitlines() if "<td>" in line]
    rows = {(cells[i][4:-5], cells[i + 1][4:-5]): [c[4:-5] for c in cells[i + 2 : i + 7]] for i in range(0, len(cells), 7)}
    weights, token = 2 * 8_030_261_248, 131_072
    for (card, cache), (fits, needed, devices, users, _) in rows.items():
        memory = {"nvidia-l4": 24e9, "nvidia-h100-sxm": 80e9, "nvidia-h200": 141e9, "nvidia-b200": None}[card]
        user = 32_768 * token // (2 if cache == "fp8" else 1)
        assert abs(float(needed) - (weights + 32 * user) / 1e9) < 1e-3
        if memory:
            memory *= 0.92
            assert (int(fits), int(users)) == (weights + 32 * user <= memory, max(0, (memory - weights) // user))
            assert int(devices) == next(n for n in (1, 2, 4, 8) if weights + 32 * user <= n * memory)


def test_a_budget(tour):
    # Kernels of 5 × 5 instead of 3 × 3 in three blocks.
    wider = MACS + 3 * 32 * 32 * 16 * 1024
    assert f"macs is {wider / 1e6:.2f} M" in shown(tour, "result.assert_", "text")


def test_ctrl_c_in_a_kernel(tmp_path):
    """A program that never ends: the cell is interrupted, and the kernel continues."""
    stub = tmp_path / "stub"
    stub.write_text(
        f"#!/bin/sh\ntrap 'exit 130' INT\ntouch {tmp_path}/up\n"
        "while :; do sleep 0.05; done\n"
    )
    stub.chmod(0o755)
    environment = {**os.environ, "TMETER_PROGRAM": str(stub)}
    manager, client = start_new_kernel(kernel_name="python3", env=environment)
    try:
        client.execute("import tmeter\ntmeter.analyze('x.pt2')", stop_on_error=False)
        deadline = time.monotonic() + 120
        while not (tmp_path / "up").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        manager.interrupt_kernel()
        assert _first(client, "error")["ename"] == "KeyboardInterrupt"
        client.execute("print('still', 'here')")
        assert _first(client, "stream")["text"].strip() == "still here"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _first(client, kind):
    """The next message of this kind."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            message = client.get_iopub_msg(timeout=5)
        except queue.Empty:
            continue
        if message["msg_type"] == kind:
            return message["content"]
    raise AssertionError(f"no {kind} came")
