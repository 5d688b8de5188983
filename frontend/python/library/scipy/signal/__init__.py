from scipy.signal import windows
from scipy.signal.windows import get_window
