// resize_fwd and resize_bwd over width and height. Images are {C,W,H,N}.
//
// The values of the modes are unknown: here they are in the order of ONNX's Resize.
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/dense_array.h"
#include "plugin/testing/synapse_double/kernels/families.h"
#include "plugin/testing/synapse_double/kernels/interpolation.h"

namespace hpu::synapse_double {
namespace {

using synapse::ns_ResizeKernel::Params;

enum class Coordinates : uint32_t {
  kHalfPixel = 0,
  kPytorchHalfPixel = 1,
  kAlignCorners = 2,
  kAsymmetric = 3,
  kTfHalfPixelForNearest = 4,
};
enum class Nearest : uint32_t { kRoundPreferFloor = 0, kRoundPreferCeil = 1, kFloor = 2, kCeil = 3 };

double Coordinate(Coordinates mode, int64_t out, double scale, int64_t from_size, int64_t to_size) {
  const auto x = static_cast<double>(out);
  switch (mode) {
    case Coordinates::kPytorchHalfPixel:
      return to_size > 1 ? (x + 0.5) / scale - 0.5 : 0;
    case Coordinates::kAlignCorners:
      return to_size > 1 ? x * static_cast<double>(from_size - 1) / static_cast<double>(to_size - 1) : 0;
    case Coordinates::kAsymmetric:
      return x / scale;
    case Coordinates::kTfHalfPixelForNearest:
      return (x + 0.5) / scale;
    default:
      return (x + 0.5) / scale - 0.5;
  }
}

double NearestSample(Nearest mode, double coordinate) {
  switch (mode) {
    case Nearest::kRoundPreferFloor:
      return std::ceil(coordinate - 0.5);
    case Nearest::kRoundPreferCeil:
      return std::floor(coordinate + 0.5);
    case Nearest::kFloor:
      return std::floor(coordinate);
    default:
      return std::ceil(coordinate);
  }
}

// For each position of a dimension of the result, the samples that it takes.
std::vector<WeightedSamples> SamplesOf(const Params& params, double scale, int64_t from_size, int64_t to_size) {
  std::vector<WeightedSamples> samples;
  for (int64_t out = 0; out < to_size; ++out) {
    const double at = Coordinate(Coordinates{params.coordTransMode}, out, scale, from_size, to_size);
    if (InterpolationMode{params.mode} == InterpolationMode::kLinear) {
      samples.push_back(LinearSamples(at, from_size));
    } else {
      const double nearest = NearestSample(Nearest{params.nearestMode}, at);
      samples.push_back({{static_cast<int64_t>(std::clamp(nearest, 0.0, static_cast<double>(from_size - 1))), 1}});
    }
  }
  return samples;
}

// Samples along width and height.
struct Sampling {
  std::vector<WeightedSamples> along[2];
};

bool ReadSampling(KernelContext* context, const Sizes& from, const Sizes& to, Sampling* sampling) {
  const auto params = context->params<Params>();
  if (!context->Require(params.mode <= 1 && params.coordTransMode <= 4 && params.nearestMode <= 3, "mode ", params.mode,
                        ", coordTransMode ", params.coordTransMode, ", nearestMode ", params.nearestMode,
                        ": not modelled")) {
    return false;
  }
  if (!context->Require(from.size() == 4 && to.size() == 4 && from[0] == to[0] && from[3] == to[3], "images ",
                        TextOf(from), " and ", TextOf(to), ": expected rank 4, with common channels and batch")) {
    return false;
  }
  const float scales[] = {params.scaleDim1, params.scaleDim2};
  const int sizes[] = {params.size1, params.size2};
  for (int i = 0; i < 2; ++i) {
    const int64_t from_size = from[1 + i];
    const int64_t to_size = to[1 + i];
    double scale = static_cast<double>(to_size) / static_cast<double>(from_size);
    if (params.useScales) {
      scale = scales[i];
      const double scaled = std::floor(static_cast<double>(from_size) * scale);
      if (!context->Require(scaled == static_cast<double>(to_size), "scale ", scale, " of ", TextOf(from),
                            " does not make ", TextOf(to))) {
        return false;
      }
    } else if (!context->Require(sizes[i] == to_size, "size", i + 1, " is ", sizes[i], ", the result ", TextOf(to))) {
      return false;
    }
    sampling->along[i] = SamplesOf(params, scale, from_size, to_size);
  }
  return true;
}

// Calls visit(position in the operand, position in the result, weight).
template <typename Visit>
void ForEachSample(const Sampling& sampling, const Sizes& from, const Sizes& to, const Visit& visit) {
  const Sizes strides = DenseStrides(from);
  Sizes index(to.size());
  for (int64_t at = 0; at < ElementCount(to); ++at) {
    for (const WeightedSample& w : sampling.along[0][index[1]]) {
      for (const WeightedSample& h : sampling.along[1][index[2]]) {
        visit(Dot({index[0], w.position, h.position, index[3]}, strides), at, w.weight * h.weight);
      }
    }
    NextIndex(to, &index);
  }
}

void ResizeForward(KernelContext& context) {
  Sampling sampling;
  const Sizes& from = context.input(0).sizes;
  const Sizes& to = context.output(0).sizes;
  if (!ReadSampling(&context, from, to, &sampling)) return;
  const DenseArray<double> x = Load<double>(context.input(0));
  DenseArray<double> y(to);
  ForEachSample(sampling, from, to, [&](int64_t i, int64_t o, double weight) { y[o] += weight * x[i]; });
  Store(y, context.output(0));
}

// dY -> dX
void ResizeBackward(KernelContext& context) {
  Sampling sampling;
  const Sizes& from = context.output(0).sizes;
  const Sizes& to = context.input(0).sizes;
  if (!ReadSampling(&context, from, to, &sampling)) return;
  const DenseArray<double> dy = Load<double>(context.input(0));
  DenseArray<double> dx(from);
  ForEachSample(sampling, from, to, [&](int64_t i, int64_t o, double weight) { dx[i] += weight * dy[o]; });
  Store(dx, context.output(0));
}

}  // namespace

void AddResize(KernelRegistry* registry) {
  // The second input is a shape tensor.
  registry->Add({"resize_bwd", Suffix::kType, {1, 2}, {1, 1}, {sizeof(Params)}, ResizeBackward});
  registry->Add({"resize_fwd", Suffix::kType, {1, 2}, {1, 1}, {sizeof(Params)}, ResizeForward});
}

}  // namespace hpu::synapse_double
