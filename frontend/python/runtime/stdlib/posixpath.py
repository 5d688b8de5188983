# os.path under its own name.
import os.path
from os.path import *

globals().update({name: value for name, value in vars(os.path).items() if not name.startswith("__")})
