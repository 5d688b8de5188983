from torch._jit_internal import BroadcastingList1, BroadcastingList2, BroadcastingList3
