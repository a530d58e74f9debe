#include "plugin/tensorflow/kernels/eager/random_order.h"

#include <cstdint>
#include <numeric>
#include <utility>

#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/lib/random/random_distributions.h"

namespace hpu {

// Fisher-Yates shuffle from the front, with one 32-bit random number for each position except the last, as in the CPU
// kernel.
void RandomOrder::Draw(tensorflow::Tensor* order) {
  const auto places = order->vec<int32_t>();
  const int64_t count = places.size();
  std::iota(places.data(), places.data() + count, 0);
  tensorflow::random::PhiloxRandom state = generator_.ReserveSamples32(count - 1);
  tensorflow::random::SingleSampleAdapter<tensorflow::random::PhiloxRandom> numbers(&state);
  for (int64_t i = 0; i + 1 < count; ++i) {
    const uint32_t left = static_cast<uint32_t>(count - i);
    std::swap(places(i), places(i + numbers() % left));
  }
}

}  // namespace hpu
