#include "plugin/backends/emulator/kernels/elementary_function.h"

#include <algorithm>
#include <memory>

#include "plugin/backends/emulator/kernels/bfloat16.h"
#include "plugin/backends/emulator/kernels/formulas.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {
namespace {

using Function = ElementaryFunction::Function;

constexpr char kName[] = "elementary_function.1";
// Number of elements that stay in the first-level cache between two reads.
constexpr int64_t kBlock = 1024;

template <typename T>
struct Work {
  const T* first;
  const T* second;
  T* to;
  int64_t elements;
  bool uniform;
};

template <typename F, typename T>
HPU_INLINE void OfAngles(const Work<T>& work) {
  for (int64_t begin = 0; begin < work.elements; begin += kBlock) {
    const int64_t size = std::min(kBlock, work.elements - begin);
    const T* const from = work.first + begin;
    T* const to = work.to + begin;
    uint32_t greatest = 0;
    HPU_SIMD
    for (int64_t i = 0; i < size; ++i) {
      const float x = Load(from + i);
      Store(F::Of(x, ReduceAngle(x)), to + i);
    }
    for (int64_t i = 0; i < size; ++i) greatest = std::max(greatest, BitsOf(Load(from + i)) & ~kSignBit);
    if (greatest < BitsOf(kLargeAngle)) continue;
    for (int64_t i = 0; i < size; ++i) {
      const float x = Load(from + i);
      if (!(Magnitude(x) < kLargeAngle)) Store(F::Of(x, ReduceLargeAngle(x)), to + i);
    }
  }
}

template <typename F, typename T>
HPU_INLINE void OfOne(const Work<T>& work) {
  HPU_SIMD
  for (int64_t i = 0; i < work.elements; ++i) Store(F::Of(Load(work.first + i)), work.to + i);
}

template <typename F, typename T>
HPU_INLINE void OfTwo(const Work<T>& work) {
  // Repeats a uniform operand, because GCC 12 does not vectorise a loop with loop-invariant conditions.
  T repeated[kBlock];
  if (work.uniform) std::fill_n(repeated, std::min(kBlock, work.elements), *work.second);
  for (int64_t begin = 0; begin < work.elements; begin += kBlock) {
    const int64_t size = std::min(kBlock, work.elements - begin);
    const T* const first = work.first + begin;
    const T* const second = work.uniform ? repeated : work.second + begin;
    T* const to = work.to + begin;
    HPU_SIMD
    for (int64_t i = 0; i < size; ++i) Store(F::Of(Load(first + i), Load(second + i)), to + i);
  }
}

HPU_VECTORIZED(SineOfFloats, Work<float>, (OfAngles<Sine, float>))
HPU_VECTORIZED(CosineOfFloats, Work<float>, (OfAngles<Cosine, float>))
HPU_VECTORIZED(TangentOfFloats, Work<float>, (OfAngles<Tangent, float>))
HPU_VECTORIZED(ArcSineOfFloats, Work<float>, (OfOne<ArcSine, float>))
HPU_VECTORIZED(ArcCosineOfFloats, Work<float>, (OfOne<ArcCosine, float>))
HPU_VECTORIZED(ArcTangentOfFloats, Work<float>, (OfTwo<ArcTangent2, float>))
HPU_VECTORIZED(PowerOfFloats, Work<float>, (OfTwo<Power, float>))
HPU_VECTORIZED(SineOfBFloats, Work<BFloat16>, (OfAngles<Sine, BFloat16>))
HPU_VECTORIZED(CosineOfBFloats, Work<BFloat16>, (OfAngles<Cosine, BFloat16>))
HPU_VECTORIZED(TangentOfBFloats, Work<BFloat16>, (OfAngles<Tangent, BFloat16>))
HPU_VECTORIZED(ArcSineOfBFloats, Work<BFloat16>, (OfOne<ArcSine, BFloat16>))
HPU_VECTORIZED(ArcCosineOfBFloats, Work<BFloat16>, (OfOne<ArcCosine, BFloat16>))
HPU_VECTORIZED(ArcTangentOfBFloats, Work<BFloat16>, (OfTwo<ArcTangent2, BFloat16>))
HPU_VECTORIZED(PowerOfBFloats, Work<BFloat16>, (OfTwo<Power, BFloat16>))

template <typename T>
using Loop = void (*)(const Work<T>&);
constexpr Loop<float> kOfFloats[] = {SineOfFloats,      CosineOfFloats,     TangentOfFloats, ArcSineOfFloats,
                                     ArcCosineOfFloats, ArcTangentOfFloats, PowerOfFloats};
constexpr Loop<BFloat16> kOfBFloats[] = {SineOfBFloats,      CosineOfBFloats,     TangentOfBFloats, ArcSineOfBFloats,
                                         ArcCosineOfBFloats, ArcTangentOfBFloats, PowerOfBFloats};

template <typename T>
class ElementaryFunctionKernel final : public Kernel {
 public:
  ElementaryFunctionKernel(Loop<T> loop, const ElementaryFunction& function)
      : loop_(loop), two_(function.function >= Function::kArcTangent2), function_(function) {}

  absl::Status Run(const KernelCall& call) const override {
    const auto* first = static_cast<const T*>(call.operands[0]);
    const auto* second = two_ ? static_cast<const T*>(call.operands[1]) : nullptr;
    auto* to = static_cast<T*>(call.results[0]);
    // An element takes as long as 8 to 16 bytes of memory traffic, so shards have 16384 elements.
    RunShards(call.pool, function_.elements, ShardSize(16), [&](Shard shard) {
      const T* from_second = two_ && !function_.uniform ? second + shard.begin : second;
      loop_({first + shard.begin, from_second, to + shard.begin, shard.end - shard.begin, function_.uniform});
    });
    return absl::OkStatus();
  }

 private:
  const Loop<T> loop_;
  const bool two_;
  const ElementaryFunction function_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 4 || parameters[0] < 0 || parameters[0] >= ElementaryFunction::kFunctions ||
      parameters[1] >> 1 != 0 || parameters[2] >> 1 != 0 || parameters[3] <= 0) {
    return absl::InvalidArgumentError(
        "expected 4 parameters: function (0: sin, 1: cos, 2: tan, 3: asin, 4: acos, 5: atan2, 6: pow), bfloat16 and "
        "uniform (0 or 1), and elements > 0");
  }
  const int64_t number = parameters[0];
  const ElementaryFunction function{static_cast<Function>(number), parameters[1] != 0, parameters[2] != 0,
                                    parameters[3]};
  if (function.bfloat16) {
    return std::make_unique<ElementaryFunctionKernel<BFloat16>>(kOfBFloats[number], function);
  }
  return std::make_unique<ElementaryFunctionKernel<float>>(kOfFloats[number], function);
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec ElementaryFunction::Spec() const {
  return {kName, {static_cast<int64_t>(function), bfloat16, uniform, elements}};
}

}  // namespace hpu::emulator
