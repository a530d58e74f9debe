#include "plugin/backends/emulator/kernels/max_gradient.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/kernels/bfloat16.h"
#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {
namespace {

constexpr char kMaxGradientName[] = "max_gradient.3";
// Larger windows are left to XLA.
constexpr int64_t kMaxWindowElements = 512;
// If there are too few images for all threads, a thread computes this many lanes of an image: a cache line.
constexpr int64_t kFewLanes = 16;

template <typename T>
struct Piece {
  const T* input;
  const float* gradient;
  float* output;
  const WindowTable* table;
  int64_t outer;
  Shard lanes;
};

// A window; `offsets` are relative to `input` and `output`.
template <typename T>
struct Window {
  const T* input;
  const float* gradient;
  float* output;
  const int64_t* offsets;
  int32_t count;
};

// Without `overlap`, each result element belongs to one window at most, so it is stored without being read.
template <bool overlap>
struct AddWindow {
  template <int n, typename T>
  static HPU_INLINE void Run(const Window<T>& window, int64_t lane) {
    const T* const input = window.input + lane;
    Lanes<float, n> greatest = LoadFloats<n>(input + window.offsets[0]);
    Lanes<int32_t, n> argmax = {};
    for (int32_t p = 1; p < window.count; ++p) {
      const Lanes<float, n> next = LoadFloats<n>(input + window.offsets[p]);
      const Lanes<int32_t, n> take = next > greatest;
      greatest = take ? next : greatest;
      argmax = take ? argmax * 0 + p : argmax;
    }
    const Lanes<float, n> more = LoadLanes<n>(window.gradient + lane);
    for (int32_t p = 0; p < window.count; ++p) {
      float* const to = window.output + window.offsets[p] + lane;
      // Sums start at zero, so that the result is never -0.0.
      Lanes<float, n> sum = {};
      if (overlap) sum = LoadLanes<n>(to);
      StoreLanes(sum + (argmax == p ? more : Lanes<float, n>{}), to);
    }
  }
};

template <bool overlap, typename T>
struct AddWindows {
  template <int width>
  static HPU_INLINE void Run(const Piece<T>& piece) {
    const WindowTable& table = *piece.table;
    const Windows& w = table.windows();
    const int64_t outer = piece.outer;
    const T* const input = piece.input + outer * w.inputs() * w.inner;
    const float* gradient = piece.gradient + outer * w.outputs() * w.inner;
    float* const output = piece.output + outer * w.inputs() * w.inner;
    if (overlap || !table.covers()) {
      for (int64_t i = 0; i < w.inputs(); ++i) {
        std::fill(output + i * w.inner + piece.lanes.begin, output + i * w.inner + piece.lanes.end, 0.0f);
      }
    }
    int64_t found[kMaxWindowElements];
    for (int64_t a = 0; a < w.dimensions[0].output; ++a) {
      for (int64_t b = 0; b < w.dimensions[1].output; ++b) {
        for (int64_t c = 0; c < w.dimensions[2].output; ++c, gradient += w.inner) {
          const WindowTable::Elements elements = table.ElementsOf(a, b, c, found);
          if (elements.count == 0) continue;
          const Window<T> window{input + elements.first, gradient, output + elements.first, elements.offsets,
                                 static_cast<int32_t>(elements.count)};
          if (elements.whole) {
            for (const int64_t ahead : table.ahead()) {
              __builtin_prefetch(window.input + ahead);
              __builtin_prefetch(window.output + ahead, 1);
            }
          }
          OverRegisters<AddWindow<overlap>, width>(window, piece.lanes.begin, piece.lanes.end);
        }
      }
    }
  }
};

using OverlappingFloats = AddWindows<true, float>;
using SeparateFloats = AddWindows<false, float>;
using OverlappingBFloats = AddWindows<true, BFloat16>;
using SeparateBFloats = AddWindows<false, BFloat16>;
HPU_VECTORIZED_BY_REGISTERS(AddOverlapping, Piece<float>, OverlappingFloats)
HPU_VECTORIZED_BY_REGISTERS(AddOverlapping, Piece<BFloat16>, OverlappingBFloats)
HPU_VECTORIZED_BY_REGISTERS(AddSeparate, Piece<float>, SeparateFloats)
HPU_VECTORIZED_BY_REGISTERS(AddSeparate, Piece<BFloat16>, SeparateBFloats)

template <typename T>
class MaxGradientKernel final : public Kernel {
 public:
  explicit MaxGradientKernel(const Windows& windows) : table_(windows) {}

  absl::Status Run(const KernelCall& call) const override {
    const Windows& windows = table_.windows();
    // Windows may overlap, so two threads must not share lanes of an image.
    const int64_t wanted = windows.outer < 2 * call.pool.threads() ? kFewLanes : windows.inner;
    const int64_t blocks = (windows.inner + wanted - 1) / wanted;
    RunShards(call.pool, windows.outer * blocks, 1, [&](Shard shard) {
      const int64_t lane = shard.begin % blocks * wanted;
      const Piece<T> piece{static_cast<const T*>(call.operands[0]),
                           static_cast<const float*>(call.operands[1]),
                           static_cast<float*>(call.results[0]),
                           &table_,
                           shard.begin / blocks,
                           Shard{lane, std::min(lane + wanted, windows.inner)}};
      table_.overlaps() ? AddOverlapping(piece) : AddSeparate(piece);
    });
    return absl::OkStatus();
  }

 private:
  const WindowTable table_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> MakeMaxGradient(absl::Span<const int64_t> parameters) {
  if (parameters.empty()) {
    return absl::InvalidArgumentError("expected bfloat16, then the parameters of the windows; got no parameters");
  }
  HPU_ASSIGN_OR_RETURN(const Windows windows, Windows::Parse(parameters.subspan(1)));
  if (windows.elements() > kMaxWindowElements) {
    return absl::InvalidArgumentError(absl::StrCat(
        "windows of ", windows.elements(), " elements are too large: at most ", kMaxWindowElements, " elements"));
  }
  if (parameters[0] != 0) return std::make_unique<MaxGradientKernel<BFloat16>>(windows);
  return std::make_unique<MaxGradientKernel<float>>(windows);
}

const bool max_gradient_registered = RegisterKernel(kMaxGradientName, MakeMaxGradient);

}  // namespace

KernelSpec MaxGradient::Spec() const {
  KernelSpec spec{kMaxGradientName, {bfloat16}};
  windows.AppendTo(&spec.parameters);
  return spec;
}

}  // namespace hpu::emulator
