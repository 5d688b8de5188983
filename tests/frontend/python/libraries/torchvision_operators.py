"""Declares torchvision's compiled operators, so that its Python can be imported beside a torch for
which it was not compiled. Nothing here computes."""
import torch

ROI = "Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width"
SIZES = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
BACKWARD = "float spatial_scale, SymInt pooled_height, SymInt pooled_width"
CONV = "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask"
SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"roi_align({ROI}, int sampling_ratio, bool aligned) -> Tensor",
    f"qroi_align({ROI}, int sampling_ratio, bool aligned) -> Tensor",
    f"ps_roi_align({ROI}, int sampling_ratio) -> (Tensor, Tensor)",
    f"roi_pool({ROI}) -> (Tensor, Tensor)",
    f"ps_roi_pool({ROI}) -> (Tensor, Tensor)",
    f"_roi_align_backward(Tensor grad, Tensor rois, {BACKWARD}, {SIZES}, int sampling_ratio, bool aligned) -> Tensor",
    f"_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {BACKWARD}, int sampling_ratio, {SIZES}) -> Tensor",
    f"_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, {BACKWARD}, {SIZES}) -> Tensor",
    f"_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {BACKWARD}, {SIZES}) -> Tensor",
    f"deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, {CONV}) -> Tensor",
    f"_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, {CONV})"
    " -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    "box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor",
)
library = torch.library.Library("torchvision", "DEF")
for schema in SCHEMAS:
    library.define(schema)
