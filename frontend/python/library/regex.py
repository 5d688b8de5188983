# The package regex is compiled; what its patterns share with those of re, re does.
import re
from re import *  # noqa: F401,F403

V0 = V1 = VERSION0 = VERSION1 = 0
Pattern, Match, error = re.Pattern, re.Match, re.error
