"""qtrigger as somebody gets it: built, installed into a new environment, used.

Owns the building and the using. Where the environment's other packages come from is the caller's:
`python -m tests.packaging.installed dist` has pip bring them, the tests borrow those that are here.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from qtrigger.queues.account import EMULATOR_ACCOUNT, EMULATOR_KEY

REPOSITORY = Path(__file__).resolve().parents[2]
LIMIT_S = 300.0


def build(into: Path) -> tuple[Path, Path]:
    """Build the sdist, and the wheel out of it; both paths."""
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", str(into), str(REPOSITORY)])
    (sdist,) = into.glob("qtrigger-*.tar.gz")
    (wheel,) = into.glob("qtrigger-*.whl")
    return sdist, wheel


def install(wheel: Path, folder: Path, *, borrow: bool) -> Path:
    """Make an environment in `folder` with the wheel; the path of its `qtrigger`.

    With `borrow` its other packages are those of this environment, and nothing is downloaded.
    """
    run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    python = folder / "bin" / "python"
    extra = ["--no-deps", "--no-index"] if borrow else []
    run([sys.executable, "-m", "pip", "--python", str(python), "install", "-q", *extra, str(wheel)])
    if borrow:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        link = folder / "lib" / version / "site-packages" / "borrowed.pth"
        link.write_text(sysconfig.get_path("purelib"), "utf-8")
    return folder / "bin" / "qtrigger"


def use(program: Path, folder: Path) -> list[str]:
    """Take the first steps in `folder`, each of which must go well; what each of them says."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "AzureWebJobsStorage": _storage(),
    }
    project = str(folder / "shop")
    start = ("start", "--exit-when-idle", "1", "--emulator", "builtin", "--log-format", "plain")
    return [
        run([str(program), *words], environ, folder)
        for words in (
            ("--version",),
            ("init", "shop"),
            ("-C", project, "check"),
            ("-C", project, *start),
        )
    ]


def run(
    command: list[str], environ: Mapping[str, str] | None = None, folder: Path | None = None
) -> str:
    """Run a command, which must go well; its output."""
    ended = subprocess.run(
        command,
        cwd=folder,
        env={"PIP_DISABLE_PIP_VERSION_CHECK": "1", **(os.environ if environ is None else environ)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    if ended.returncode != 0:
        raise AssertionError(
            f"{command} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}"
        )
    return ended.stdout


def _storage() -> str:
    """The emulator's account at a port that nothing listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}/{EMULATOR_ACCOUNT}"
    return f"AccountName={EMULATOR_ACCOUNT};AccountKey={EMULATOR_KEY};QueueEndpoint={address}"


def main() -> None:
    """Try the wheel that stands in the folder that is named, with packages that pip brings."""
    import tempfile

    (wheel,) = Path(sys.argv[1]).glob("qtrigger-*.whl")
    with tempfile.TemporaryDirectory(prefix="qtrigger-package-") as name:
        folder = Path(name)
        program = install(wheel.absolute(), folder / "environment", borrow=False)
        for said in use(program, folder):
            sys.stdout.write(said)


if __name__ == "__main__":
    main()
