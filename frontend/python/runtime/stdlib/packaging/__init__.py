__version__ = "23.0"
