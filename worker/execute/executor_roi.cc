// roi_align is in torchvision, not in ATen: the same arithmetic with one thread.
#include <algorithm>
#include <cmath>

#include "ATen/Dispatch.h"
#include "ATen/ops/empty.h"
#include "worker/execute/executor_kernels.h"

namespace cobra::worker {
namespace {

struct RoiOptions {
  double scale;
  int64_t height, width, sampling;
  bool aligned;
};

// Bilinear interpolation in one plane; 0 at more than one element outside the plane.
template <typename T>
T Interpolate(const T* plane, int64_t height, int64_t width, T y, T x) {
  if (y < -1 || y > static_cast<T>(height) || x < -1 || x > static_cast<T>(width)) return 0;
  y = std::max<T>(y, 0);
  x = std::max<T>(x, 0);
  int64_t top = static_cast<int64_t>(y), left = static_cast<int64_t>(x), bottom = top + 1, right = left + 1;
  if (top >= height - 1) {
    top = bottom = height - 1;
    y = static_cast<T>(top);
  }
  if (left >= width - 1) {
    left = right = width - 1;
    x = static_cast<T>(left);
  }
  const T down = y - static_cast<T>(top), across = x - static_cast<T>(left);
  return (1 - down) * ((1 - across) * plane[top * width + left] + across * plane[top * width + right]) +
         down * ((1 - across) * plane[bottom * width + left] + across * plane[bottom * width + right]);
}

template <typename T>
void RoiAlign(const at::Tensor& input, const at::Tensor& rois, const RoiOptions& o, const at::Tensor& output) {
  const int64_t channels = input.size(1), in_height = input.size(2), in_width = input.size(3);
  const T* in = input.data_ptr<T>();
  T* out = output.data_ptr<T>();
  for (int64_t n = 0; n < rois.size(0); ++n) {
    const T* roi = rois.data_ptr<T>() + n * 5;
    const int64_t image = std::clamp<int64_t>(static_cast<int64_t>(roi[0]), 0, input.size(0) - 1);
    const T offset = o.aligned ? 0.5 : 0, scale = static_cast<T>(o.scale);
    const T left = roi[1] * scale - offset, top = roi[2] * scale - offset;
    T width = roi[3] * scale - offset - left, height = roi[4] * scale - offset - top;
    if (!o.aligned) {
      width = std::max<T>(width, 1);
      height = std::max<T>(height, 1);
    }
    const T bin_height = height / static_cast<T>(o.height), bin_width = width / static_cast<T>(o.width);
    const int64_t rows = o.sampling > 0 ? o.sampling : static_cast<int64_t>(std::ceil(bin_height));
    const int64_t columns = o.sampling > 0 ? o.sampling : static_cast<int64_t>(std::ceil(bin_width));
    const T count = static_cast<T>(std::max<int64_t>(rows * columns, 1));
    for (int64_t c = 0; c < channels; ++c) {
      const T* plane = in + (image * channels + c) * in_height * in_width;
      for (int64_t ph = 0; ph < o.height; ++ph) {
        for (int64_t pw = 0; pw < o.width; ++pw) {
          T sum = 0;
          for (int64_t iy = 0; iy < rows; ++iy) {
            const T y = top + static_cast<T>(ph) * bin_height +
                        (static_cast<T>(iy) + T(0.5)) * bin_height / static_cast<T>(rows);
            for (int64_t ix = 0; ix < columns; ++ix) {
              const T x = left + static_cast<T>(pw) * bin_width +
                          (static_cast<T>(ix) + T(0.5)) * bin_width / static_cast<T>(columns);
              sum += Interpolate(plane, in_height, in_width, y, x);
            }
          }
          *out++ = sum / count;
        }
      }
    }
  }
}

absl::StatusOr<Kernel> MakeRoiAlign(const NodeContext& c) {
  const RoiOptions options{c.Double("spatial_scale", 1), c.Int("pooled_height", 1), c.Int("pooled_width", 1),
                           c.Int("sampling_ratio", -1), c.Bool("aligned")};
  const graph::DType dtype = c.node.outputs[0].dtype;
  if (dtype != graph::DType::float32 && dtype != graph::DType::float64) return Refused(c, "takes float32 and float64");
  const std::vector<int64_t> shape(c.node.outputs[0].shape.begin(), c.node.outputs[0].shape.end());
  return Kernel([=](const Call& call) {
    const at::Tensor input = call[0].contiguous(), rois = call[1].contiguous();
    call.outputs[0] = at::empty(shape, input.options());
    AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "roi_align",
                               [&] { RoiAlign<scalar_t>(input, rois, options, call.outputs[0]); });
  });
}

}  // namespace

void AddRoiKernels(KernelTable* table) { (*table)[graph::Op::roi_align] = MakeRoiAlign; }

}  // namespace cobra::worker
