from numpy._load import NpzFile
