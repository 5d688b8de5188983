# The operators that torchvision has in C++.
import torch


def _cuda_version():
    return -1


def nms(dets, scores, iou_threshold):
    torch._data_dependent(
        "the number of boxes that nms() keeps", "give the backbone or the heads of the detector instead of the whole"
    )


def deform_conv2d(
    input,
    weight,
    offset,
    mask,
    bias,
    stride_h,
    stride_w,
    pad_h,
    pad_w,
    dil_h,
    dil_w,
    n_weight_grps,
    n_offset_grps,
    use_mask,
):
    return _deform_conv2d(
        input,
        weight,
        offset,
        mask,
        bias,
        (stride_h, stride_w),
        (pad_h, pad_w),
        (dil_h, dil_w),
        n_weight_grps,
        n_offset_grps,
        use_mask,
    )


def _unknown(name):
    return lambda *args: torch._unsupported("torch.ops.torchvision." + name)


roi_pool, ps_roi_align, ps_roi_pool = _unknown("roi_pool"), _unknown("ps_roi_align"), _unknown("ps_roi_pool")
