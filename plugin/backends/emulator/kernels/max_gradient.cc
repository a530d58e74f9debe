#include "plugin/backends/emulator/kernels/max_gradient.h"

#include <algorithm>
#include <memory>

#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"
#include "plugin/hal/status_macros.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "max_gradient.1";
// Larger windows are left to XLA.
constexpr int64_t kMostPlaces = 512;
// Where there are fewer images than work for all threads, each takes that many of an image's lanes: a cache line.
constexpr int64_t kFewLanes = 16;

struct Piece {
  const float* input;
  const float* gradient;
  float* output;
  const WindowTable* table;
  int64_t outer;
  Shard lanes;
};

// A window, whose elements lie at `offsets` from `input` and `output`.
struct Window {
  const float* input;
  const float* gradient;
  float* output;
  const int64_t* offsets;
  int32_t count;
};

// Without `overlap`, no other window writes where this one does, and nothing has to be there before.
template <bool overlap>
struct AddWindow {
  template <int n>
  static HPU_INLINE void Run(const Window& window, int64_t lane) {
    const float* const input = window.input + lane;
    Lanes<float, n> greatest = LoadLanes<n>(input + window.offsets[0]);
    Lanes<int32_t, n> place = {};
    for (int32_t p = 1; p < window.count; ++p) {
      const Lanes<float, n> next = LoadLanes<n>(input + window.offsets[p]);
      const Lanes<int32_t, n> keep = greatest >= next;
      greatest = keep ? greatest : next;
      place = keep ? place : place * 0 + p;
    }
    const Lanes<float, n> more = LoadLanes<n>(window.gradient + lane);
    for (int32_t p = 0; p < window.count; ++p) {
      float* const to = window.output + window.offsets[p] + lane;
      // Sums begin with zero, so that -0.0 does not appear.
      Lanes<float, n> sum = {};
      if (overlap) sum = LoadLanes<n>(to);
      StoreLanes(sum + (place == p ? more : Lanes<float, n>{}), to);
    }
  }
};

template <bool overlap>
struct AddWindows {
  template <int width>
  static HPU_INLINE void Run(const Piece& piece) {
    const WindowTable& table = *piece.table;
    const Windows& w = table.windows();
    const int64_t outer = piece.outer;
    const float* const input = piece.input + outer * w.inputs() * w.inner;
    const float* gradient = piece.gradient + outer * w.outputs() * w.inner;
    float* const output = piece.output + outer * w.inputs() * w.inner;
    if (overlap || !table.covers()) {
      for (int64_t i = 0; i < w.inputs(); ++i) {
        std::fill(output + i * w.inner + piece.lanes.begin, output + i * w.inner + piece.lanes.end, 0.0f);
      }
    }
    int64_t found[kMostPlaces];
    for (int64_t a = 0; a < w.dimensions[0].output; ++a) {
      for (int64_t b = 0; b < w.dimensions[1].output; ++b) {
        for (int64_t c = 0; c < w.dimensions[2].output; ++c, gradient += w.inner) {
          const WindowTable::Elements elements = table.ElementsOf(a, b, c, found);
          if (elements.count == 0) continue;
          const Window window{input + elements.first, gradient, output + elements.first, elements.offsets,
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

HPU_VECTORIZED_BY_REGISTERS(AddOverlapping, Piece, AddWindows<true>)
HPU_VECTORIZED_BY_REGISTERS(AddSeparate, Piece, AddWindows<false>)

class MaxGradientKernel final : public Kernel {
 public:
  explicit MaxGradientKernel(const Windows& windows)
      : table_(windows), run_(table_.overlaps() ? AddOverlapping : AddSeparate) {}

  absl::Status Run(const KernelCall& call) const override {
    const Windows& windows = table_.windows();
    // Windows overlap, so that two threads must not share an image's lanes.
    const int64_t wanted = windows.outer < 2 * call.pool.threads() ? kFewLanes : windows.inner;
    const int64_t blocks = (windows.inner + wanted - 1) / wanted;
    RunShards(call.pool, windows.outer * blocks, 1, [&](Shard shard) {
      const int64_t lane = shard.begin % blocks * wanted;
      run_({static_cast<const float*>(call.operands[0]), static_cast<const float*>(call.operands[1]),
            static_cast<float*>(call.results[0]), &table_, shard.begin / blocks,
            Shard{lane, std::min(lane + wanted, windows.inner)}});
    });
    return absl::OkStatus();
  }

 private:
  const WindowTable table_;
  void (*const run_)(const Piece&);
};

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  HPU_ASSIGN_OR_RETURN(const Windows windows, Windows::Parse(parameters));
  if (windows.places() > kMostPlaces) return absl::InvalidArgumentError("windows are too large");
  return std::make_unique<MaxGradientKernel>(windows);
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec MaxGradient::Spec() const {
  KernelSpec spec{kName, {}};
  windows.AppendTo(&spec.parameters);
  return spec;
}

}  // namespace hpu::emulator
