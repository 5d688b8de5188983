#!/usr/bin/python3
"""numpy.load of good, odd and damaged files in real NumPy and in our reader: the same arrays, or an
exception of the same type, which the program can catch. What the reader does not read is exit code
4, never another answer. Exits 77 without python3-numpy."""
import io
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

try:
    import numpy
except ImportError:
    print("python3-numpy is not installed")
    sys.exit(77)

BIN = os.path.abspath(os.environ.get("COBRA_BIN", "build/release/bin"))
EXPRESSIONS = """
described(np.load("plain.npy"))
described(np.load("fortran.npy"))
described(np.load("trailing.npy"))
described(np.load("complex.npy"))
described(np.load("half.npy"))
described(np.load("empty_shape.npy"))
described(np.load("long_names.npy"))
described(np.load("old.npy"))
described(np.load("foreign.npy").astype("f4"))
np.load("foreign.npy").tolist()
described(np.load("many.npy")[4000:4003])
described(np.load("two.npz")["a"])
described(np.load("two.npz")["a.npy"])
described(np.load("packed.npz")["b"][2990:])
described(np.load("packed.npz").get("b")[::300])
np.load("two.npz")["c"]
[np.load("two.npz").files, list(np.load("two.npz")), len(np.load("two.npz")), "a" in np.load("two.npz"), "a.npy" in np.load("two.npz")]
[type(np.load("two.npz")).__name__, isinstance(np.load("two.npz"), dict), hasattr(np.load("two.npz"), "copy")]
np.load("mixed.npz")["words.txt"]
[np.load("mixed.npz")["text"].shape, len(np.load("mixed.npz")["text"]), isinstance(np.load("mixed.npz")["text"], np.ndarray)]
np.load("none.npz").files
open_twice("both.npy")
open_twice("plain.npy")
described(np.load("plain.npy", mmap_mode="r"))
np.load("plain.npy", mmap_mode="q")
np.load("plain.npy", bogus=1)
np.load("plain.npy", encoding="bogus")
np.load("absent.npy")
np.load("nothing.npy")
np.load("header.npy")
np.load("version.npy")
np.load("extra.npy")
np.load("few.npy")
np.load("shape.npy")
np.load("negative.npy")
np.load("order.npy")
np.load("kind.npy")
np.load("short.npy")
np.load("large_short.npy").shape
np.load("not_closed.npy")
np.load("objects.npy")
np.load("pickle.npy")
np.load("bad_crc.npz")["a"]
np.load("bad_packed.npz")["b"]
np.load("bad_end.npz")
np.load("bad_name.npz")["a"]
np.load("large_crc.npz")["big"]
zipfile.ZipFile("two.npz").namelist()
[zipfile.ZipFile("two.npz").testzip(), zipfile.ZipFile("bad_crc.npz").testzip(), zipfile.is_zipfile("two.npz"), zipfile.is_zipfile("plain.npy")]
[zipfile.ZipFile("packed.npz").getinfo("b.npy").file_size, len(zipfile.ZipFile("packed.npz").read("b.npy")), zipfile.ZipFile("packed.npz").open("b.npy").read(6)]
zipfile.ZipFile("plain.npy")
zlib.decompress(b"x\\x9cKLJ\\x06\\x00\\x02M\\x01'")
[zlib.crc32(b"abc"), zlib.adler32(b"abc"), zlib.crc32(b"c", zlib.crc32(b"ab"))]
zlib.decompress(b"x\\x9cKLJ")
zlib.decompress(b"abc")
"""
# What later versions than 1.24 raise, which are stricter.
LATER = {
    'open_twice("plain.npy")': "raises EOFError",
    'np.load("nothing.npy")': "raises EOFError",
    'np.load("negative.npy")': "raises ValueError",
    'np.load("not_closed.npy")': "raises ValueError",
}
REFUSED = """
np.load("mixed.npz")["text"][0]
np.load("mixed.npz")["text"] == "x"
np.asarray(np.load("mixed.npz")["text"]).tolist()
torch.from_numpy(np.load("foreign.npy"))
np.load("foreign.npy").dtype
np.load("objects.npy", allow_pickle=True)
np.load("plain.npy", mmap_mode="w+")
zipfile.ZipFile("two.npz", "a")
zlib.compress(b"a")
"""
HEAD = """
import zipfile
import zlib
import numpy as np


def described(v):
    return [str(v.dtype), tuple(v.shape), v.tolist()]


def open_twice(name):
    with open(name, "rb") as f:
        return [described(np.load(f)), described(np.load(f))]


def shown(f):
    try:
        return repr(f())
    except Exception as e:
        return "raises " + type(e).__name__
"""


def npy(text, data=b"\0" * 24, version=b"\1\0"):
    head = text.encode()
    return b"\x93NUMPY" + version + struct.pack("<H", len(head)) + head + data


def saved(array):
    stream = io.BytesIO()
    numpy.save(stream, array)
    return stream.getvalue()


def write_files(folder):
    a, b = numpy.arange(6.0).reshape(2, 3), numpy.arange(3000) % 50
    numpy.savez(folder + "/two.npz", a=a, b=b)
    numpy.savez_compressed(folder + "/packed.npz", a=a, b=b)
    numpy.savez_compressed(folder + "/big.npz", big=numpy.ones(300000))
    files = {
        "plain": saved(a.astype("f4")),
        "fortran": saved(numpy.asfortranarray(a)),
        "trailing": saved(a) + b"more",
        "complex": saved(numpy.array([1 + 2j, -3j], "c8")),
        "half": saved(numpy.array([1.5, -numpy.inf, 6e-8], "f2")),
        "foreign": saved(a.astype(">f4")),
        "many": saved(numpy.arange(5000)),
        "both": saved(a) + saved(numpy.array([True, False])),
        "empty_shape": saved(numpy.array(7, "i2")),
        "long_names": npy("{'descr': 'float32', 'fortran_order': False, 'shape': (6,)}"),
        "old": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6L,)}"),
        "nothing": b"",
        "header": b"\x93NUMPY\1\0\x76",
        "version": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", version=b"\7\0"),
        "extra": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'x': 1}"),
        "few": npy("{'descr': '<f4', 'shape': (6,)}"),
        "shape": npy("{'descr': '<f4', 'fortran_order': False, 'shape': 6}"),
        "negative": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"),
        "order": npy("{'descr': '<f4', 'fortran_order': 0, 'shape': (6,)}"),
        "kind": npy("{'descr': '<q9', 'fortran_order': False, 'shape': (6,)}"),
        "short": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (7,)}"),
        "large_short": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (900000,)}"),
        "not_closed": npy("{'descr': '<f4', 'fortran_order': False"),
        "objects": npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"),
        "pickle": b"\x80\x04K\x01.",
    }
    for name, data in files.items():
        with open(f"{folder}/{name}.npy", "wb") as f:
            f.write(data)
    with zipfile.ZipFile(folder + "/mixed.npz", "w") as z:
        z.writestr("words.txt", b"words")
        z.writestr("text.npy", saved(numpy.array(["x", "yy"])))
    zipfile.ZipFile(folder + "/none.npz", "w").close()
    damaged = {  # of which file, at which bytes
        "bad_crc": ("two", lambda d: d.index(b"\x93NUMPY") + 130),
        "bad_packed": ("packed", lambda d: d.rindex(b"b.npy", 0, d.index(b"PK\1\2")) + 30),
        "bad_end": ("two", lambda d: d.rindex(b"PK\5\6")),
        "bad_name": ("two", lambda d: d.index(b"a.npy")),
        "large_crc": ("big", lambda d: d.index(b"PK\1\2") + 16),
    }
    for name, (source, at) in damaged.items():
        data = bytearray(open(f"{folder}/{source}.npz", "rb").read())
        data[at(bytes(data))] ^= 0x55
        with open(f"{folder}/{name}.npz", "wb") as f:
            f.write(data)


def client(folder, program):
    with open(folder + "/program.py", "w") as f:
        f.write(HEAD + "import torch\n\n\n" + program)
    done = subprocess.run(
        [BIN + "/cobra-client", "graph", "program.py", "--entry", "run()", "--input", "1x3"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


def main():
    wrong = 0
    expressions, refused = EXPRESSIONS.strip().split("\n"), REFUSED.strip().split("\n")
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder)
        os.chdir(folder)
        names = {}
        exec(HEAD, names)
        for e in expressions:
            want = LATER.get(e) or names["shown"](eval("lambda: " + e, names))
            code, text = client(folder, "def run():\n    raise KeyboardInterrupt(shown(lambda: %s))\n" % e)
            found = re.search(r"KeyboardInterrupt: (.*)", text)
            have = found.group(1) if found else f"exit code {code}: {text[-300:]}"
            if have != want:
                wrong += 1
                print(f"DIFFERS  {e}\n   numpy {want[:300]}\n   ours  {have[:300]}")
        for e in refused:
            code, text = client(folder, "def run():\n    return %s\n" % e)
            if code != 4:
                wrong += 1
                print(f"NOT REFUSED  {e}: exit code {code}: {text[-300:]}")
        os.chdir("/")
    print(f"{len(expressions) + len(refused)} expressions, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())
