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

// Where in the image each element of window `o` is, in row-major order; how many there are.
HPU_INLINE int64_t FindElements(const WindowTable& table, const int64_t (&o)[3], int64_t* offsets) {
  const Windows& w = table.windows();
  const auto& [planes, rows, columns] = w.dimensions;
  int64_t count = 0;
  for (int64_t a = 0; a < planes.window; ++a) {
    const int64_t plane = table.InputOf(0, o[0], a);
    for (int64_t b = 0; b < rows.window; ++b) {
      const int64_t row = plane < 0 ? -1 : table.InputOf(1, o[1], b);
      for (int64_t c = 0; c < columns.window; ++c) {
        const int64_t column = row < 0 ? -1 : table.InputOf(2, o[2], c);
        if (column >= 0) offsets[count++] = ((plane * rows.input + row) * columns.input + column) * w.inner;
      }
    }
  }
  return count;
}

// One window, whose elements lie at `offsets` of an image.
struct Window {
  const float* input;
  const float* gradient;
  float* output;
  const int64_t* offsets;
  int32_t count;
};

struct AddWindow {
  template <int n>
  static HPU_INLINE void Run(const Window& window, int64_t lane) {
    const float* const input = window.input + lane;
    float greatest[n];
    int32_t place[n];
    HPU_SIMD
    for (int i = 0; i < n; ++i) {
      greatest[i] = input[window.offsets[0] + i];
      place[i] = 0;
    }
    for (int32_t p = 1; p < window.count; ++p) {
      const float* from = input + window.offsets[p];
      HPU_SIMD
      for (int i = 0; i < n; ++i) {
        // Read before the choice: a choice of what to read would not become vector code.
        const float old = greatest[i], next = from[i];
        const int32_t old_place = place[i];
        greatest[i] = old >= next ? old : next;
        place[i] = old >= next ? old_place : p;
      }
    }
    float more[n];
    HPU_SIMD
    for (int i = 0; i < n; ++i) more[i] = window.gradient[lane + i];
    for (int32_t p = 0; p < window.count; ++p) {
      float* to = window.output + window.offsets[p] + lane;
      HPU_SIMD
      for (int i = 0; i < n; ++i) {
        const float value = more[i];
        to[i] += place[i] == p ? value : 0.0f;
      }
    }
  }
};

HPU_INLINE void AddWindows(const Piece& piece) {
  const Windows& w = piece.table->windows();
  const float* input = piece.input + piece.outer * w.inputs() * w.inner;
  const float* gradient = piece.gradient + piece.outer * w.outputs() * w.inner;
  float* output = piece.output + piece.outer * w.inputs() * w.inner;
  for (int64_t i = 0; i < w.inputs(); ++i) {
    for (int64_t lane = piece.lanes.begin; lane < piece.lanes.end; ++lane) output[i * w.inner + lane] = 0;
  }
  int64_t offsets[kMostPlaces];
  for (int64_t a = 0; a < w.dimensions[0].output; ++a) {
    for (int64_t b = 0; b < w.dimensions[1].output; ++b) {
      for (int64_t c = 0; c < w.dimensions[2].output; ++c, gradient += w.inner) {
        const int64_t count = FindElements(*piece.table, {a, b, c}, offsets);
        if (count == 0) continue;
        const Window window{input, gradient, output, offsets, static_cast<int32_t>(count)};
        OverLanes<AddWindow>(window, piece.lanes.begin, piece.lanes.end);
      }
    }
  }
}

HPU_VECTORIZED(AddPiece, Piece, AddWindows)

class MaxGradientKernel final : public Kernel {
 public:
  explicit MaxGradientKernel(const Windows& windows) : table_(windows) {}

  absl::Status Run(const KernelCall& call) const override {
    const Windows& windows = table_.windows();
    // Windows overlap, so that two threads must not share an image's lanes.
    const int64_t wanted = windows.outer < 2 * call.pool.threads() ? kFewLanes : windows.inner;
    const int64_t blocks = (windows.inner + wanted - 1) / wanted;
    RunShards(call.pool, windows.outer * blocks, 1, [&](Shard shard) {
      const int64_t lane = shard.begin % blocks * wanted;
      AddPiece({static_cast<const float*>(call.operands[0]), static_cast<const float*>(call.operands[1]),
                static_cast<float*>(call.results[0]), &table_, shard.begin / blocks,
                Shard{lane, std::min(lane + wanted, windows.inner)}});
    });
    return absl::OkStatus();
  }

 private:
  const WindowTable table_;
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
