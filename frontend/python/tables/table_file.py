"""A table NAME.inc of this folder, which lies here compressed, as NAME.inc.tar.xz: that is what
`cmake -E tar` expands without any other program (CMakeLists.txt)."""
import io
import lzma
import os
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))


def path_of(name):
    return os.path.join(HERE, name + ".tar.xz")


def write_table(name, text):
    """The same text gives the same bytes: no time, no owner, fixed settings (those of xz -9e)."""
    data, archive = text.encode(), io.BytesIO()
    member = tarfile.TarInfo(name)
    member.size = len(data)
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        tar.addfile(member, io.BytesIO(data))
    with open(path_of(name), "wb") as file:
        file.write(lzma.compress(archive.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def read_table(name):
    with tarfile.open(path_of(name)) as tar:
        return tar.extractfile(name).read().decode()
