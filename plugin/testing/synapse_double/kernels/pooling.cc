// Pooling over windows of 2 spatial dimensions, and its gradients. Images are {C,W,H,N}.
//
// Max pooling returns the position of each window's maximum in the window, width fastest. The first maximum in that
// order wins. It is unknown whether a card does the same.
#include <algorithm>
#include <limits>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/elementwise.h"
#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

// Parameters of the windows; index 0 is the width, 1 the height.
struct PoolingWindow {
  int64_t kernel[2];
  int64_t stride[2];
  int64_t dilation[2];
  int64_t pad_before[2];
  int64_t pad_after[2];
  synapse::EPoolingConvention convention;
};

int64_t CeilOfRatio(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Number of windows in a dimension.
int64_t WindowCount(const PoolingWindow& window, int i, int64_t size) {
  const int64_t stride = window.stride[i];
  const int64_t extent = (window.kernel[i] - 1) * window.dilation[i] + 1;
  const int64_t room = size + window.pad_before[i] + window.pad_after[i] - extent;
  if (window.convention == synapse::POOLING_CONVENTION_SAME) return CeilOfRatio(size, stride);
  if (room < 0) return 0;
  if (window.convention == synapse::POOLING_CONVENTION_VALID) return room / stride + 1;
  const int64_t count = CeilOfRatio(room, stride) + 1;
  // PyTorch drops a window that begins after the end of the image.
  const bool drops_last = window.convention == synapse::POOLING_CONVENTION_FULL_PYTORCH &&
                          (count - 1) * stride >= size + window.pad_before[i];
  return drops_last ? count - 1 : count;
}

bool ReadWindow(KernelContext* context, const Sizes& image, const Sizes& windows, PoolingWindow* window) {
  const auto p = context->params<synapse::ns_SpatialReduction::Params>();
  *window = {{p.kernel_w, p.kernel_h},       {p.stride_w, p.stride_h},   {p.dilation_w, p.dilation_h},
             {p.pad_w_begin, p.pad_h_begin}, {p.pad_w_end, p.pad_h_end}, p.pooling_convention};
  if (!context->Require(image.size() == 4 && windows.size() == 4, "expected images of rank 4")) return false;
  if (!context->Require(p.pooling_convention <= synapse::POOLING_CONVENTION_FULL_PYTORCH, "pooling_convention ",
                        p.pooling_convention, " is unknown")) {
    return false;
  }
  Sizes expected = image;
  for (int i = 0; i < 2; ++i) {
    if (!context->Require(window->kernel[i] > 0 && window->stride[i] > 0 && window->dilation[i] > 0 &&
                              window->pad_before[i] >= 0 && window->pad_after[i] >= 0,
                          "kernel, stride, dilation or padding is out of range")) {
      return false;
    }
    expected[1 + i] = WindowCount(*window, i, image[1 + i]);
  }
  return context->Require(windows == expected, "expected windows ", TextOf(expected), ", found ", TextOf(windows));
}

// Calls visit(position in the image, position in the windows, tap) for each element of each window inside the image.
template <typename Visit>
void ForEachTap(const PoolingWindow& window, const Sizes& image, const Sizes& windows, const Visit& visit) {
  const Sizes strides = DenseStrides(image);
  Sizes index(windows.size());
  const int64_t count = ElementCount(windows);
  for (int64_t to = 0; to < count; ++to) {
    for (int64_t tap = 0; tap < window.kernel[0] * window.kernel[1]; ++tap) {
      const int64_t taps[] = {tap % window.kernel[0], tap / window.kernel[0]};
      Sizes met = index;
      bool inside = true;
      for (int i = 0; i < 2; ++i) {
        int64_t& at = met[1 + i];
        at = at * window.stride[i] - window.pad_before[i] + taps[i] * window.dilation[i];
        inside = inside && at >= 0 && at < image[1 + i];
      }
      if (inside) visit(Dot(met, strides), to, tap);
    }
    NextIndex(windows, &index);
  }
}

// X -> indices, Y
void MaxPool(KernelContext& context) {
  PoolingWindow window;
  const Sizes& image = context.input(0).sizes;
  const Sizes& windows = context.output(1).sizes;
  if (!ReadWindow(&context, image, windows, &window)) return;
  if (!context.RequireSizes(context.output(0), windows, "output 0")) return;
  const bool is_narrow = BytesOf(context.output(0).type) == 1;
  if (!context.Require(!is_narrow || window.kernel[0] * window.kernel[1] <= 256, "output 0: windows of ",
                       window.kernel[0] * window.kernel[1], " elements need indices of 2 bytes")) {
    return;
  }
  const bool lose_nan = context.switches().lose_nan_in_max_min;
  const DenseArray<double> x = Load<double>(context.input(0));
  DenseArray<double> y(windows, -std::numeric_limits<double>::infinity());
  DenseArray<int64_t> indices(windows, -1);
  ForEachTap(window, image, windows, [&](int64_t from, int64_t to, int64_t tap) {
    const bool loses = x[from] <= y[to] || y[to] != y[to] || (lose_nan && x[from] != x[from]);
    if (indices[to] >= 0 && loses) return;
    y[to] = x[from];
    indices[to] = tap;
  });
  for (int64_t i = 0; i < indices.count(); ++i) indices[i] = std::max<int64_t>(indices[i], 0);
  Store(indices, context.output(0));
  Store(y, context.output(1));
}

// dY, indices -> dX
void MaxPoolGradient(KernelContext& context) {
  PoolingWindow window;
  const Sizes& image = context.output(0).sizes;
  const Sizes& windows = context.input(0).sizes;
  if (!ReadWindow(&context, image, windows, &window)) return;
  if (!context.RequireSizes(context.input(1), windows, "input 1")) return;
  const DenseArray<double> dy = Load<double>(context.input(0));
  const DenseArray<int64_t> indices = Load<int64_t>(context.input(1));
  DenseArray<double> dx(image);
  DenseArray<int64_t> met(windows);
  ForEachTap(window, image, windows, [&](int64_t to, int64_t from, int64_t tap) {
    if (indices[from] != tap) return;
    dx[to] += dy[from];
    met[from] = 1;
  });
  for (int64_t i = 0; i < met.count(); ++i) {
    if (!context.Require(met[i] == 1, "input 1: index ", indices[i], " is outside its window")) return;
  }
  Store(dx, context.output(0));
}

// The divisor of each window's sum.
DenseArray<double> Divisors(const KernelContext& context, const PoolingWindow& window, const Sizes& image,
                            const Sizes& windows) {
  DenseArray<double> divisors(windows);
  if (context.params<synapse::ns_AveragePooling::Params>().includePadding != 0) {
    return DenseArray<double>(windows, static_cast<double>(window.kernel[0] * window.kernel[1]));
  }
  ForEachTap(window, image, windows, [&](int64_t, int64_t at, int64_t) { ++divisors[at]; });
  return divisors;
}

// X -> Y
void AveragePool(KernelContext& context) {
  PoolingWindow window;
  const Sizes& image = context.input(0).sizes;
  const Sizes& windows = context.output(0).sizes;
  if (!ReadWindow(&context, image, windows, &window)) return;
  const DenseArray<double> x = Load<double>(context.input(0));
  const DenseArray<double> divisors = Divisors(context, window, image, windows);
  DenseArray<double> y(windows);
  ForEachTap(window, image, windows, [&](int64_t from, int64_t to, int64_t) { y[to] += x[from]; });
  for (int64_t i = 0; i < y.count(); ++i) y[i] = divisors[i] == 0 ? 0 : y[i] / divisors[i];
  Store(y, context.output(0));
}

// dY[, X] -> dX. Only the sizes of X matter.
void AveragePoolGradient(KernelContext& context) {
  PoolingWindow window;
  const Sizes& image = context.output(0).sizes;
  const Sizes& windows = context.input(0).sizes;
  if (!ReadWindow(&context, image, windows, &window)) return;
  if (context.has_input(1) && !context.RequireSizes(context.input(1), image, "input 1")) return;
  const DenseArray<double> dy = Load<double>(context.input(0));
  const DenseArray<double> divisors = Divisors(context, window, image, windows);
  DenseArray<double> dx(image);
  ForEachTap(window, image, windows, [&](int64_t to, int64_t from, int64_t) { dx[to] += dy[from] / divisors[from]; });
  Store(dx, context.output(0));
}

}  // namespace

void AddPooling(KernelRegistry* registry) {
  constexpr size_t kMax = sizeof(synapse::ns_SpatialReduction::Params);
  constexpr size_t kAverage = sizeof(synapse::ns_AveragePooling::Params);
  registry->Add({"avg_pool_2d_bwd", Suffix::kType, {1, 2}, {1, 1}, {kAverage}, AveragePoolGradient});
  registry->Add({"avg_pool_2d_fwd", Suffix::kType, {1, 1}, {1, 1}, {kAverage}, AveragePool});
  registry->Add({"maxpool_2d_bwd", Suffix::kType, {2, 2}, {1, 1}, {kMax}, MaxPoolGradient});
  registry->Add({"maxpool_2d_fwd", Suffix::kType, {1, 1}, {2, 2}, {kMax}, MaxPool});
}

}  // namespace hpu::synapse_double
