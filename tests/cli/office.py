"""LibreOffice for the test of workbooks: the system's, or Debian's packages unpacked into the cache (90 MB to download, once)."""

import os
import pathlib
import shutil
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tmeter"
RESTART = (79, 81)  # the status by which it requests a restart
CSV = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"  # all sheets, UTF-8


def unpacked():
    """The program's folder, or the reason for its absence."""
    folder = CACHE / "libreoffice-1"
    done = subprocess.run([SOURCE / "apps/python/fetch_debian", folder, "libreoffice-calc-nogui"], capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()[-200:]
    program = folder / "usr/lib/libreoffice/program"
    settings = program / "fundamentalrc"
    # Paths of an installed system become those of the folder.
    text = settings.read_text().replace("file:///usr/lib/libreoffice", f"file://{program.parent}")
    text = text.replace("file:///etc/libreoffice/registry", f"file://{program.parent}/share/.registry")
    part = settings.with_name(f"fundamentalrc.{os.getpid()}")
    part.write_text(text)
    part.replace(settings)
    return program, ""


def sheets_as_csv(workbook, folder):
    """Writes FOLDER/WORKBOOK-SHEET.csv. Returns the reason if there is no LibreOffice, else an empty text."""
    found = shutil.which("soffice") or shutil.which("libreoffice")
    environment = dict(os.environ)
    if not found:
        program, why = unpacked()
        if program is None:
            return why
        found = program / "soffice.bin"
        environment["LD_LIBRARY_PATH"] = f"{program}:{program.parents[1] / (os.uname().machine + '-linux-gnu')}"
    for _ in range(5):
        done = subprocess.run([found, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", CSV, "--outdir", folder,
                               workbook], capture_output=True, text=True, timeout=300, env=environment)
        if done.returncode not in RESTART:
            break
    assert done.returncode == 0, (done.returncode, done.stderr)
    return ""
