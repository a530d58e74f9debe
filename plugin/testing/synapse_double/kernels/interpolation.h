// Interpolation between the samples of one dimension.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_INTERPOLATION_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_INTERPOLATION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace hpu::synapse_double {

// The values of the modes are unknown: these are in the order of ONNX's Resize.
enum class InterpolationMode : uint32_t { kNearest = 0, kLinear = 1 };

struct WeightedSample {
  int64_t position;
  double weight;
};
using WeightedSamples = std::vector<WeightedSample>;

// The two samples around `coordinate`, with the first and last of `size` samples repeated outside.
inline WeightedSamples LinearSamples(double coordinate, int64_t size) {
  const double below = std::floor(coordinate);
  const auto clamp = [&](double position) {
    return static_cast<int64_t>(std::clamp(position, 0.0, static_cast<double>(size - 1)));
  };
  const double fraction = coordinate - below;
  return {{clamp(below), 1 - fraction}, {clamp(below + 1), fraction}};
}

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_INTERPOLATION_H_
