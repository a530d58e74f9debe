// Shapes of convolutions: images {C,W,H[,D],N}, filters {K,C,S,R[,Q]}.
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/graph/shapes/shape_check.h"

namespace hpu::synapse_double {
namespace {

constexpr int64_t kMaxKernelSide = 255;

// One spatial dimension.
struct Window {
  int64_t kernel, stride, pad_before, pad_after, dilation;
};

struct Convolution {
  std::vector<Window> windows;
  int64_t groups;
  bool has_explicit_pads;
};

Convolution Read2D(const ShapeCheck& check) {
  const auto p = check.params<synapse::synConvolutionParamsV2>();
  return {{{p.kW, p.dW, p.padL, p.padR, p.dilW}, {p.kH, p.dH, p.padT, p.padB, p.dilH}},
          p.nGroups,
          p.paddingType == synapse::PADDING_EXPLICIT};
}

Convolution Read3D(const ShapeCheck& check) {
  const auto p = check.params<synapse::synConvolution3DParamsV2>();
  Convolution convolution = {{}, p.nGroups, p.paddingType == synapse::PADDING_EXPLICIT};
  for (int i = 0; i < 3; ++i) {
    convolution.windows.push_back({p.kernel[i], p.stride[i], p.padding[2 * i], p.padding[2 * i + 1], p.dilation[i]});
  }
  return convolution;
}

// Requires that y has the sizes of the convolution x * w.
void CheckConvolution(ShapeCheck& check, const Convolution& convolution, const Sizes& x, const Sizes& w,
                      const Sizes& y) {
  const size_t rank = convolution.windows.size() + 2;
  if (!check.Require(x.size() == rank && w.size() == rank && y.size() == rank, "image ", TextOf(x), ", filter ",
                     TextOf(w), ", result ", TextOf(y), ": expected rank ", rank)) {
    return;
  }
  check.Require(convolution.has_explicit_pads, "padding SAME is computed anew from the sizes; use explicit padding");
  const int64_t groups = convolution.groups;
  if (!check.Require(groups > 0, "nGroups is 0")) return;
  check.Require(x[0] == w[1] * groups, "image ", TextOf(x), " and filter ", TextOf(w), " with ", groups,
                " groups: expected ", w[1] * groups, " channels");
  check.Require(y[0] == w[0] && y[0] % groups == 0, "filter ", TextOf(w), " and result ", TextOf(y), " with ", groups,
                " groups: channels differ, or do not divide");
  check.Require(x[rank - 1] == y[rank - 1], "image ", TextOf(x), " and result ", TextOf(y), ": batches differ");
  for (size_t i = 0; i < convolution.windows.size(); ++i) {
    const auto& [kernel, stride, pad_before, pad_after, dilation] = convolution.windows[i];
    check.Require(kernel >= 1 && kernel <= kMaxKernelSide, "kernel side ", kernel, ": sides are 1 to 255");
    check.Require(kernel == w[2 + i], "filter ", TextOf(w), ": params have the kernel side ", kernel, " for dimension ",
                  2 + i);
    if (!check.Require(stride > 0 && dilation > 0, "stride ", stride, ", dilation ", dilation)) return;
    const int64_t room = x[1 + i] + pad_before + pad_after - ((kernel - 1) * dilation + 1);
    const int64_t expected = room < 0 ? 0 : room / stride + 1;
    check.Require(y[1 + i] == expected, "image ", TextOf(x), ", result ", TextOf(y), ": expected size ", expected,
                  " of dimension ", 1 + i, " of the result");
  }
}

template <Convolution (*read)(const ShapeCheck&)>
void Forward(ShapeCheck& check) {
  CheckConvolution(check, read(check), check.in(0), check.in(1), check.out(0));
  check.RequireInputElements(2, check.out(0)[0]);
  check.RequireInput(3, check.out(0));
}

// dY, w[, shape of dX] -> dX
template <Convolution (*read)(const ShapeCheck&)>
void ImageGradient(ShapeCheck& check) {
  CheckConvolution(check, read(check), check.out(0), check.in(1), check.in(0));
  check.RequireShapeTensor(2, check.out(0));
}

// dY, x -> dW
template <Convolution (*read)(const ShapeCheck&)>
void FilterGradient(ShapeCheck& check) {
  CheckConvolution(check, read(check), check.in(1), check.out(0), check.in(0));
}

}  // namespace

ShapeRules ConvolutionShapes() {
  return {{"spatial_convolution", Forward<Read2D>}, {"spatial_convolution3d", Forward<Read3D>},
          {"dedx", ImageGradient<Read2D>},          {"dedx3d", ImageGradient<Read3D>},
          {"dedw", FilterGradient<Read2D>},         {"dedw3d", FilterGradient<Read3D>}};
}

}  // namespace hpu::synapse_double
