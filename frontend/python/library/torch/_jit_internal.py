from torch.jit import _overload, _overload_method, export, ignore, is_scripting, unused
from typing import Dict, List, Optional, Tuple

Final = None


class _BroadcastingList:
    def __getitem__(self, types):
        return None


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _BroadcastingList()


def _copy_to_script_wrapper(fn):
    return fn


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    return if_false
