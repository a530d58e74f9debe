#include "plugin/backends/emulator/kernels/placed_gradient.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "plugin/backends/emulator/kernels/parallel.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "placed_gradient.1";

class PlacedGradientKernel final : public Kernel {
 public:
  explicit PlacedGradientKernel(const PlacedGradient& sizes) : sizes_(sizes) {}

  absl::Status Run(const KernelCall& call) const override {
    const float* const gradient = static_cast<const float*>(call.operands[0]);
    const int64_t* const places = static_cast<const int64_t*>(call.operands[1]);
    float* const images = static_cast<float*>(call.results[0]);
    std::atomic<bool> has_others = false;
    RunShards(call.pool, sizes_.batch, ShardSize(16 * (sizes_.numbers + sizes_.elements)), [&](Shard shard) {
      bool others = false;
      for (int64_t image = shard.begin; image < shard.end; ++image) {
        others |= AddToOwn(image, gradient + image * sizes_.numbers, places + image * sizes_.numbers,
                           images + image * sizes_.elements);
      }
      if (others) has_others = true;
    });
    if (has_others) AddToOthers(gradient, places, images);
    return absl::OkStatus();
  }

 private:
  // The offset that addresses the image's first element.
  uint64_t Origin(int64_t image) const { return sizes_.of_batch ? static_cast<uint64_t>(image * sizes_.elements) : 0; }

  // Zeroes the image and adds the elements of its gradient whose offsets are in the image. Returns whether there are
  // others.
  bool AddToOwn(int64_t image, const float* gradient, const int64_t* places, float* elements) const {
    const uint64_t origin = Origin(image), count = static_cast<uint64_t>(sizes_.elements);
    std::fill_n(elements, sizes_.elements, 0.0f);
    bool others = false;
    for (int64_t i = 0; i < sizes_.numbers; ++i) {
      const uint64_t place = static_cast<uint64_t>(places[i]) - origin;
      if (place < count) {
        elements[place] += gradient[i];
      } else {
        others = true;
      }
    }
    return others;
  }

  void AddToOthers(const float* gradient, const int64_t* places, float* images) const {
    const uint64_t count = static_cast<uint64_t>(sizes_.elements), all = count * static_cast<uint64_t>(sizes_.batch);
    for (int64_t image = 0; image < sizes_.batch; ++image) {
      const uint64_t origin = Origin(image), begin = static_cast<uint64_t>(image) * count;
      for (int64_t i = 0; i < sizes_.numbers; ++i, ++gradient, ++places) {
        const uint64_t own = static_cast<uint64_t>(*places) - origin, place = own + begin;
        if (own >= count && place < all) images[place] += *gradient;
      }
    }
  }

  const PlacedGradient sizes_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  constexpr int64_t kMax = int64_t{1} << 31;
  if (parameters.size() != 4 || parameters[0] >> 1 != 0 ||
      *std::min_element(parameters.begin() + 1, parameters.end()) <= 0 ||
      *std::max_element(parameters.begin() + 1, parameters.end()) > kMax) {
    return absl::InvalidArgumentError(
        "expected 4 parameters: of_batch (0: offsets from the image's start, 1: from the batch's start), then batch, "
        "numbers and elements, each from 1 to 2^31");
  }
  return std::make_unique<PlacedGradientKernel>(
      PlacedGradient{parameters[0] == 1, parameters[1], parameters[2], parameters[3]});
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec PlacedGradient::Spec() const { return {kName, {of_batch ? 1 : 0, batch, numbers, elements}}; }

}  // namespace hpu::emulator
