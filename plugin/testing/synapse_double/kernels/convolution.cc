// Convolutions of 2 and 3 spatial dimensions, and their gradients. Images are {C,W,H[,D],N}, filters {K,C,S,R[,Q]}.
#include <algorithm>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/families.h"
#include "plugin/testing/synapse_double/kernels/product_operand.h"
#include "plugin/testing/synapse_double/kernels/row_loops.h"

namespace hpu::synapse_double {
namespace {

constexpr int kSpatial = 3;  // width, height, depth
constexpr int kMaxKernelSide = 255;

struct Window {
  int64_t kernel[kSpatial] = {1, 1, 1};
  int64_t stride[kSpatial] = {1, 1, 1};
  int64_t pad_before[kSpatial] = {0, 0, 0};
  int64_t pad_after[kSpatial] = {0, 0, 0};
  int64_t dilation[kSpatial] = {1, 1, 1};
  int64_t groups = 1;
  bool relu = false;
};

template <typename Params>
bool ReadCommon(KernelContext* context, const Params& params, Window* window) {
  window->groups = params.nGroups;
  window->relu = params.activation.reluEnable;
  return context->Require(params.nGroups > 0, "nGroups is 0") &&
         context->Require(params.paddingType == synapse::PADDING_EXPLICIT, "paddingType ", params.paddingType,
                          ": only explicit padding is modelled") &&
         context->Require(params.activation.pwlNegCoeff == 0 && params.activation.pwlPosCoeff == 0,
                          "piecewise linear activations are not modelled");
}

bool ReadWindow2D(KernelContext* context, Window* window) {
  const auto params = context->params<synapse::synConvolutionParamsV2>();
  const Window read = {{params.kW, params.kH, 1},
                       {params.dW, params.dH, 1},
                       {params.padL, params.padT, 0},
                       {params.padR, params.padB, 0},
                       {params.dilW, params.dilH, 1}};
  *window = read;
  return ReadCommon(context, params, window);
}

bool ReadWindow3D(KernelContext* context, Window* window) {
  const auto params = context->params<synapse::synConvolution3DParamsV2>();
  for (int i = 0; i < kSpatial; ++i) {
    window->kernel[i] = params.kernel[i];
    window->stride[i] = params.stride[i];
    window->pad_before[i] = params.padding[2 * i];
    window->pad_after[i] = params.padding[2 * i + 1];
    window->dilation[i] = params.dilation[i];
  }
  return ReadCommon(context, params, window);
}

// Image and filter sizes with a depth. Empty if the rank is not the node's.
Sizes ImageSizes(const TensorView& view, bool is_3d) {
  if (view.rank() != (is_3d ? 5 : 4)) return {};
  const Sizes& s = view.sizes;
  return is_3d ? s : Sizes{s[0], s[1], s[2], 1, s[3]};
}

Sizes FilterSizes(const TensorView& view, bool is_3d) {
  if (view.rank() != (is_3d ? 5 : 4)) return {};
  Sizes sizes = view.sizes;
  sizes.resize(5, 1);
  return sizes;
}

// A convolution x * w = y, of which two operands are known and the third one is computed.
struct Convolution {
  Sizes x;
  Sizes w;
  Sizes y;
  Window window;
};

bool Describe(KernelContext* context, const TensorView& x, const TensorView& w, const TensorView& y, bool is_3d,
              Convolution* convolution) {
  Window& window = convolution->window;
  if (!(is_3d ? ReadWindow3D(context, &window) : ReadWindow2D(context, &window))) return false;
  *convolution = {ImageSizes(x, is_3d), FilterSizes(w, is_3d), ImageSizes(y, is_3d), window};
  const auto& [xs, ws, ys, _] = *convolution;
  if (!context->Require(!xs.empty() && !ws.empty() && !ys.empty(), "image ", TextOf(x.sizes), ", filter ",
                        TextOf(w.sizes), ", result ", TextOf(y.sizes), ": expected rank ", is_3d ? 5 : 4)) {
    return false;
  }
  if (!context->Require(
          xs[0] == ws[1] * window.groups && ys[0] == ws[0] && ys[0] % window.groups == 0 && xs[4] == ys[4], "image ",
          TextOf(x.sizes), ", filter ", TextOf(w.sizes), ", result ", TextOf(y.sizes),
          ": channels or batch differ, with ", window.groups, " groups")) {
    return false;
  }
  for (int i = 0; i < kSpatial; ++i) {
    if (!context->Require(window.kernel[i] == ws[2 + i] && window.kernel[i] >= 1 && window.kernel[i] <= kMaxKernelSide,
                          "filter ", TextOf(w.sizes), ", params have the side ", window.kernel[i])) {
      return false;
    }
    if (!context->Require(window.stride[i] >= 1 && window.dilation[i] >= 1, "stride or dilation is 0")) return false;
    const int64_t extent = (window.kernel[i] - 1) * window.dilation[i] + 1;
    const int64_t padded = xs[1 + i] + window.pad_before[i] + window.pad_after[i];
    const int64_t size = padded < extent ? 0 : (padded - extent) / window.stride[i] + 1;
    if (!context->Require(size == ys[1 + i], "image ", TextOf(x.sizes), ": the window makes size ", size,
                          " of dimension ", 1 + i, ", the result has ", TextOf(y.sizes))) {
      return false;
    }
  }
  return true;
}

// Position in a dimension of x that `tap` of the filter reads for position `out` of y; negative in the padding.
int64_t InputPosition(const Convolution& convolution, int dimension, int64_t out, int64_t tap) {
  const Window& window = convolution.window;
  const int64_t in = out * window.stride[dimension] - window.pad_before[dimension] + tap * window.dilation[dimension];
  return in < convolution.x[1 + dimension] ? in : -1;
}

// Calls visit(count, position in x, in w, in y) for each row of filter elements: `count` elements of w and y from these
// positions belong to one element of x.
template <typename Visit>
void ForEachRow(const Convolution& convolution, const Visit& visit) {
  const Sizes x_strides = DenseStrides(convolution.x);
  const Sizes w_strides = DenseStrides(convolution.w);
  const Sizes y_strides = DenseStrides(convolution.y);
  const Sizes taps(convolution.w.begin() + 2, convolution.w.end());
  const Sizes points(convolution.y.begin() + 1, convolution.y.end());  // width, height, depth, batch
  const int64_t group_inputs = convolution.w[1];
  const int64_t group_outputs = convolution.w[0] / convolution.window.groups;
  if (ElementCount(convolution.y) == 0 || ElementCount(convolution.w) == 0) return;
  Sizes point(points.size());
  do {
    Sizes tap(kSpatial);
    const int64_t y = Dot({0, point[0], point[1], point[2], point[3]}, y_strides);
    do {
      Sizes in = {0, 0, 0, 0, point[3]};
      bool inside = true;
      for (int i = 0; i < kSpatial; ++i) {
        in[1 + i] = InputPosition(convolution, i, point[i], tap[i]);
        inside = inside && in[1 + i] >= 0;
      }
      if (!inside) continue;
      const int64_t x = Dot(in, x_strides);
      const int64_t w = Dot({0, 0, tap[0], tap[1], tap[2]}, w_strides);
      for (int64_t c = 0; c < convolution.x[0]; ++c) {
        const int64_t k_begin = c / group_inputs * group_outputs;
        const int64_t w_row = w + c % group_inputs * convolution.w[0];
        visit(group_outputs, x + c, w_row + k_begin, y + k_begin);
      }
    } while (NextIndex(taps, &tap));
  } while (NextIndex(points, &point));
}

// x, w[, bias[, addend]] -> y
template <bool is_3d>
void ConvolutionForward(KernelContext& context) {
  Convolution convolution;
  if (!Describe(&context, context.input(0), context.input(1), context.output(0), is_3d, &convolution)) return;
  const DenseArray<double> x = LoadOperand(context, context.input(0));
  const DenseArray<double> w = LoadOperand(context, context.input(1));
  DenseArray<double> y(context.output(0).sizes);
  ForEachRow(convolution,
             [&](int64_t count, int64_t xi, int64_t wi, int64_t yi) { AddScaledRow(count, x[xi], &w[wi], &y[yi]); });
  if (context.has_input(2) && !AddBias(&context, context.input(2), &y)) return;
  if (context.has_input(3)) {
    if (!context.RequireSizes(context.input(3), y.sizes(), "input 3")) return;
    const DenseArray<double> addend = LoadOperand(context, context.input(3));
    for (int64_t i = 0; i < y.count(); ++i) y[i] += addend[i];
  }
  if (convolution.window.relu) {
    for (int64_t i = 0; i < y.count(); ++i) y[i] = y[i] < 0 ? 0 : y[i];
  }
  StoreProduct(context, y, context.output(0));
}

// dY, w -> dX
template <bool is_3d>
void ImageGradient(KernelContext& context) {
  Convolution convolution;
  if (!Describe(&context, context.output(0), context.input(1), context.input(0), is_3d, &convolution)) return;
  const DenseArray<double> y = LoadOperand(context, context.input(0));
  const DenseArray<double> w = LoadOperand(context, context.input(1));
  DenseArray<double> x(context.output(0).sizes);
  ForEachRow(convolution,
             [&](int64_t count, int64_t xi, int64_t wi, int64_t yi) { x[xi] += DotOfRows(count, &y[yi], &w[wi]); });
  StoreProduct(context, x, context.output(0));
}

// dY, x -> dW
template <bool is_3d>
void FilterGradient(KernelContext& context) {
  Convolution convolution;
  if (!Describe(&context, context.input(1), context.output(0), context.input(0), is_3d, &convolution)) return;
  const DenseArray<double> y = LoadOperand(context, context.input(0));
  const DenseArray<double> x = LoadOperand(context, context.input(1));
  DenseArray<double> w(context.output(0).sizes);
  ForEachRow(convolution,
             [&](int64_t count, int64_t xi, int64_t wi, int64_t yi) { AddScaledRow(count, x[xi], &y[yi], &w[wi]); });
  StoreProduct(context, w, context.output(0));
}

}  // namespace

void AddConvolutions(KernelRegistry* registry) {
  // 88 and 104 bytes: versions between the two structs.
  const std::vector<size_t> params_2d = {sizeof(synapse::synConvolutionParams), 88, 104,
                                         sizeof(synapse::synConvolutionParamsV2)};
  const std::vector<size_t> params_3d = {sizeof(synapse::synConvolution3DParams),
                                         sizeof(synapse::synConvolution3DParamsV2)};
  const auto add = [&](const char* stem, size_t max_inputs, const std::vector<size_t>& params, Kernel kernel) {
    registry->Add({stem, Suffix::kNone, {2, max_inputs}, {1, 1}, params, kernel});
  };
  add("dedw", 2, params_2d, FilterGradient<false>);
  add("dedw3d", 2, params_3d, FilterGradient<true>);
  // The third input is a shape tensor.
  add("dedx", 3, params_2d, ImageGradient<false>);
  add("dedx3d", 3, params_3d, ImageGradient<true>);
  add("spatial_convolution", 4, params_2d, ConvolutionForward<false>);
  add("spatial_convolution3d", 4, params_3d, ConvolutionForward<true>);
}

}  // namespace hpu::synapse_double
