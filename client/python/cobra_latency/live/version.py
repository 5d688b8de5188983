"""The version of torch that runs."""
from __future__ import annotations

from typing import Tuple

import torch

VERSION: Tuple[int, int] = (int(torch.__version__.split(".")[0]), int(torch.__version__.split(".")[1]))
