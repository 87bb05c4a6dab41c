"""``python -m tmeter export …`` writes a model's file, ``fleet`` analyses many files; all else goes to the native program."""

from __future__ import annotations

import os
import sys


def main() -> int:
    if sys.argv[1:2] == ["export"]:
        from .export_command import export_command

        return export_command(sys.argv[2:])
    if sys.argv[1:2] == ["fleet"]:
        import signal

        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the command handles it
        from .fleet.command import fleet_command

        return fleet_command(sys.argv[2:])
    from .errors import Error
    from .program import program_environment, program_path

    try:
        program = str(program_path())
    except Error as error:
        print(f"tmeter: {error}", file=sys.stderr)
        return 1
    os.execve(program, [program, *sys.argv[1:]], program_environment())


if __name__ == "__main__":
    sys.exit(main())
