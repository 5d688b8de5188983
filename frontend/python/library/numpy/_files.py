# numpy and files: read are .npy and .npz alone.
import torch


def load(*args, **kwargs):
    import importlib

    return importlib.import_module("numpy._load").load(*args, **kwargs)


def loadtxt(*args, **kwargs):
    torch._unsupported("numpy.loadtxt: files are not read here")


genfromtxt = fromfile = fromstring = fromregex = loadtxt


def save(*args, **kwargs):
    torch._unsupported("numpy.save: files are not written here")


savez = savez_compressed = savetxt = save
