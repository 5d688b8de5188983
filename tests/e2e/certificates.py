"""Keys and certificates of a test's own, made here and now with openssl."""
import os
import subprocess


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def new_key(*arguments):
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", *arguments)


class Pair:
    """A certificate and its key: files."""

    def __init__(self, folder, name):
        self.cert, self.key = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")

    def read(self):
        with open(self.cert, "rb") as cert, open(self.key, "rb") as key:
            return cert.read(), key.read()


class Authority:
    def __init__(self, folder, name="authority"):
        self.folder = folder
        self.pair = Pair(folder, name)
        self.cert = self.pair.cert
        new_key("-x509", "-days", "2", "-subj", "/CN=" + name, "-keyout", self.pair.key, "-out", self.cert)

    def issue(self, name, common_name, alternative_names="", days=2):
        """`alternative_names`: "DNS:a,IP:127.0.0.1". `days` below 0: it has expired."""
        pair = Pair(self.folder, name)
        request, extensions = os.path.join(self.folder, "request"), os.path.join(self.folder, "extensions")
        new_key("-subj", "/CN=" + common_name, "-keyout", pair.key, "-out", request)
        with open(extensions, "w") as file:
            file.write(f"subjectAltName={alternative_names}\n" if alternative_names else "")
        signer = ["-CA", self.cert, "-CAkey", self.pair.key, "-CAcreateserial"]
        openssl("x509", "-req", "-in", request, *signer, "-days", str(days), "-extfile", extensions, "-out", pair.cert)
        return pair
