#include "plugin/backends/emulator/kernels/window_reduction.h"

#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/kernels/bfloat16.h"
#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {
namespace {

using Function = WindowReduction::Function;

constexpr char kWindowReductionName[] = "window_reduction.1";

// Some rows of windows. A row has one outer index and one index of each of the first two dimensions.
struct Rows {
  const void* input;
  void* output;
  const WindowTable* table;
  int64_t* found;  // room for the offsets of a window
  Shard rows;
};

struct Add {
  static constexpr float kInitial = 0;
  static HPU_INLINE float Of(float a, float b) { return a + b; }
};

struct Max {
  static constexpr float kInitial = -std::numeric_limits<float>::infinity();
  // Returns NaN if one of the operands is NaN, as XLA does.
  static HPU_INLINE float Of(float a, float b) {
    const float greater = a >= b ? a : b;
    return a != a ? a : greater;
  }
};

template <typename T>
struct Window {
  const T* input;
  T* output;
  const int64_t* offsets;
  int64_t count;
};

template <typename T, typename F>
struct ReduceWindow {
  template <int n>
  static HPU_INLINE void Run(const Window<T>& window, int64_t lane) {
    float sum[n];
    HPU_SIMD
    for (int i = 0; i < n; ++i) sum[i] = F::kInitial;
    for (int64_t p = 0; p < window.count; ++p) {
      const T* from = window.input + window.offsets[p] + lane;
      HPU_SIMD
      for (int i = 0; i < n; ++i) sum[i] = F::Of(sum[i], Load(from + i));
    }
    T* const to = window.output + lane;
    HPU_SIMD
    for (int i = 0; i < n; ++i) StoreExact(sum[i], to + i);
  }
};

template <typename T, typename F>
HPU_INLINE void ReduceRows(const Rows& work) {
  const WindowTable& table = *work.table;
  const Windows& w = table.windows();
  const int64_t columns = w.dimensions[2].output;
  for (int64_t r = work.rows.begin; r < work.rows.end; ++r) {
    const int64_t row = r % w.dimensions[1].output, rest = r / w.dimensions[1].output;
    const int64_t plane = rest % w.dimensions[0].output, image = rest / w.dimensions[0].output;
    const T* input = static_cast<const T*>(work.input) + image * w.inputs() * w.inner;
    T* output = static_cast<T*>(work.output) + r * columns * w.inner;
    for (int64_t column = 0; column < columns; ++column, output += w.inner) {
      const WindowTable::Elements elements = table.ElementsOf(plane, row, column, work.found);
      const T* from = input + elements.first;
      if (elements.whole) {
        for (const int64_t ahead : table.ahead()) __builtin_prefetch(from + ahead);
      }
      OverLanes<ReduceWindow<T, F>>(Window<T>{from, output, elements.offsets, elements.count}, 0, w.inner);
    }
  }
}

HPU_VECTORIZED(AddFloats, Rows, (ReduceRows<float, Add>))
HPU_VECTORIZED(MaxFloats, Rows, (ReduceRows<float, Max>))
HPU_VECTORIZED(MaxBFloats, Rows, (ReduceRows<BFloat16, Max>))

class WindowReductionKernel final : public Kernel {
 public:
  WindowReductionKernel(void (*run)(const Rows&), const Windows& windows, int64_t element_bytes)
      : run_(run),
        table_(windows),
        rows_(windows.outer * windows.dimensions[0].output * windows.dimensions[1].output),
        each_(ShardSize(windows.dimensions[2].output * windows.inner * (windows.elements() + 1) * element_bytes)) {}

  absl::Status Run(const KernelCall& call) const override {
    RunShards(call.pool, rows_, each_, [&](Shard rows) {
      thread_local std::vector<int64_t> found;
      found.resize(table_.windows().elements());
      run_({call.operands[0], call.results[0], &table_, found.data(), rows});
    });
    return absl::OkStatus();
  }

 private:
  void (*const run_)(const Rows&);
  const WindowTable table_;
  const int64_t rows_;
  const int64_t each_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> MakeWindowReduction(absl::Span<const int64_t> parameters) {
  if (parameters.size() < 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected function and bfloat16, then the parameters of the windows; got ", parameters.size(), " parameters"));
  }
  HPU_ASSIGN_OR_RETURN(const Windows windows, Windows::Parse(parameters.subspan(2)));
  const bool add = parameters[0] == static_cast<int64_t>(Function::kAdd), bfloat16 = parameters[1] != 0;
  if (add && bfloat16) return absl::InvalidArgumentError("sums of bfloat16 are not supported; use float32");
  const auto run = add ? AddFloats : bfloat16 ? MaxBFloats : MaxFloats;
  return std::make_unique<WindowReductionKernel>(run, windows, bfloat16 ? 2 : 4);
}

const bool window_reduction_registered = RegisterKernel(kWindowReductionName, MakeWindowReduction);

}  // namespace

KernelSpec WindowReduction::Spec() const {
  KernelSpec spec{kWindowReductionName, {static_cast<int64_t>(function), bfloat16}};
  windows.AppendTo(&spec.parameters);
  return spec;
}

}  // namespace hpu::emulator
