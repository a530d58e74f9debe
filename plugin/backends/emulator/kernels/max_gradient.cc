#include "plugin/backends/emulator/kernels/max_gradient.h"

#include <algorithm>
#include <memory>

#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"
#include "plugin/hal/status_macros.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "max_gradient.1";
// Inner elements that are compared side by side, in registers. Windows overlap, so that two threads must not share an
// image's lanes: a piece of work is some lanes of one outer index.
constexpr int64_t kLanes = 32;
// Larger windows are left to XLA.
constexpr int64_t kMostPlaces = 512;

struct Piece {
  const float* input;
  const float* gradient;
  float* output;
  const WindowTable* table;
  int64_t outer;
  int64_t lane;
  int64_t lanes;
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

HPU_INLINE void AddWindow(const float* input, const float* gradient, float* output, const int64_t* offsets,
                          int64_t count, int64_t lanes) {
  float greatest[kLanes];
  int32_t place[kLanes];
  HPU_SIMD
  for (int64_t i = 0; i < lanes; ++i) {
    greatest[i] = input[offsets[0] + i];
    place[i] = 0;
  }
  for (int32_t p = 1; p < count; ++p) {
    const float* from = input + offsets[p];
    HPU_SIMD
    for (int64_t i = 0; i < lanes; ++i) {
      // Read before the choice: a choice of what to read would not become vector code.
      const float old = greatest[i], next = from[i];
      const int32_t old_place = place[i];
      greatest[i] = old >= next ? old : next;
      place[i] = old >= next ? old_place : p;
    }
  }
  for (int32_t p = 0; p < count; ++p) {
    float* to = output + offsets[p];
    HPU_SIMD
    for (int64_t i = 0; i < lanes; ++i) {
      const float more = gradient[i];
      to[i] += place[i] == p ? more : 0.0f;
    }
  }
}

HPU_INLINE void AddWindows(const Piece& piece) {
  const Windows& w = piece.table->windows();
  const float* input = piece.input + piece.outer * w.inputs() * w.inner + piece.lane;
  const float* gradient = piece.gradient + piece.outer * w.outputs() * w.inner + piece.lane;
  float* output = piece.output + piece.outer * w.inputs() * w.inner + piece.lane;
  for (int64_t i = 0; i < w.inputs(); ++i) {
    for (int64_t lane = 0; lane < piece.lanes; ++lane) output[i * w.inner + lane] = 0;
  }
  int64_t offsets[kMostPlaces];
  for (int64_t a = 0; a < w.dimensions[0].output; ++a) {
    for (int64_t b = 0; b < w.dimensions[1].output; ++b) {
      for (int64_t c = 0; c < w.dimensions[2].output; ++c, gradient += w.inner) {
        const int64_t count = FindElements(*piece.table, {a, b, c}, offsets);
        if (count == 0) continue;
        if (piece.lanes == kLanes) {
          AddWindow(input, gradient, output, offsets, count, kLanes);
        } else if (piece.lanes == kLanes / 2) {
          AddWindow(input, gradient, output, offsets, count, kLanes / 2);
        } else {
          AddWindow(input, gradient, output, offsets, count, piece.lanes);
        }
      }
    }
  }
}

HPU_VECTORIZED(AddPiece, Piece, AddWindows)

class MaxGradientKernel final : public Kernel {
 public:
  explicit MaxGradientKernel(const Windows& windows) : table_(windows) {}

  absl::Status Run(const KernelCall& call) const override {
    const int64_t blocks = (table_.windows().inner + kLanes - 1) / kLanes;
    RunShards(call.pool, table_.windows().outer * blocks, 1, [&](Shard shard) {
      const int64_t lane = shard.begin % blocks * kLanes;
      AddPiece({static_cast<const float*>(call.operands[0]), static_cast<const float*>(call.operands[1]),
                static_cast<float*>(call.results[0]), &table_, shard.begin / blocks, lane,
                std::min(kLanes, table_.windows().inner - lane)});
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
