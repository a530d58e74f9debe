#include "plugin/backends/emulator/kernels/dilation.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "dilation.1";
constexpr size_t kEach = 6;
// If there are too few images for all threads, a thread computes this many channels of an image: a cache line.
constexpr int64_t kFewLanes = 16;
// With fewer channels, several adjacent windows are computed together, up to this many elements at a time.
constexpr int64_t kSideBySide = 256;
// The filter's gradient is summed in at most this many partial sums, each over some rows of windows.
constexpr int64_t kMaxPieces = 16;

// The part of a window that is inside the image, in one dimension.
struct Taps {
  int64_t begin;  // start of the window, perhaps outside the image
  int64_t first;
  int64_t count;
};

HPU_INLINE Taps TapsOf(const Dilation::Dimension& d, int64_t window) {
  const int64_t begin = window * d.stride - d.pad_low;
  const int64_t first = begin < 0 ? (-begin + d.rate - 1) / d.rate : 0;
  const int64_t end = begin < d.input ? std::min(d.window, (d.input - begin + d.rate - 1) / d.rate) : 0;
  return {begin, first, std::max<int64_t>(end - first, 0)};
}

// Distances between adjacent rows and columns, in elements.
struct Steps {
  int64_t row;
  int64_t column;
};

// The part of a window that is inside the image; pointers point to the part's first element.
struct Window {
  const float* image;
  const float* filter;
  Steps image_steps;
  Steps filter_steps;
  int64_t rows;
  int64_t columns;
  // `to`: destination of the maximum, or of the maximum's gradient. `otherwise`: destination of the gradient if no sum
  // exceeds the lowest float; null: the window's first element.
  float* to;
  float* otherwise;
  Steps to_steps;
  const float* gradient;
};

// One element has a separate type, because compilers generate slow code for vectors of one element.
template <typename T, int n>
struct RegisterOf {
  using Type = Lanes<T, n>;
};
template <typename T>
struct RegisterOf<T, 1> {
  using Type = T;
};
template <typename T, int n>
using Register = typename RegisterOf<T, n>::Type;

template <int n>
HPU_INLINE Register<float, n> Load(const float* from) {
  Register<float, n> numbers;
  std::memcpy(&numbers, from, sizeof(numbers));
  return numbers;
}

struct FindMaximum {
  template <int n>
  static HPU_INLINE void Run(const Window& window, int64_t lane) {
    Register<float, n> greatest = Register<float, n>{} + std::numeric_limits<float>::lowest();
    for (int64_t r = 0; r < window.rows; ++r) {
      const float* image = window.image + r * window.image_steps.row + lane;
      const float* filter = window.filter + r * window.filter_steps.row + lane;
      for (int64_t c = 0; c < window.columns; ++c) {
        const Register<float, n> sum = Load<n>(image) + Load<n>(filter);
        greatest = sum > greatest ? sum : greatest;
        image += window.image_steps.column;
        filter += window.filter_steps.column;
      }
    }
    StoreLanes(greatest, window.to + lane);
  }
};

template <int n>
HPU_INLINE void Add(const Register<float, n>& more, float* to) {
  StoreLanes(Load<n>(to) + more, to);
}

struct AddGradient {
  template <int n>
  static HPU_INLINE void Run(const Window& window, int64_t lane) {
    Register<float, n> greatest = Register<float, n>{} + std::numeric_limits<float>::lowest();
    Register<int32_t, n> place = Register<int32_t, n>{} - (window.otherwise != nullptr ? 1 : 0);
    int32_t number = 0;
    for (int64_t r = 0; r < window.rows; ++r) {
      const float* image = window.image + r * window.image_steps.row + lane;
      const float* filter = window.filter + r * window.filter_steps.row + lane;
      for (int64_t c = 0; c < window.columns; ++c, ++number) {
        const Register<float, n> sum = Load<n>(image) + Load<n>(filter);
        const Register<int32_t, n> take = sum > greatest;
        greatest = take ? sum : greatest;
        place = take ? place * 0 + number : place;
        image += window.image_steps.column;
        filter += window.filter_steps.column;
      }
    }
    const Register<float, n> more = Load<n>(window.gradient + lane), none = {};
    // Runs backwards through the window, so that neighbouring windows add to a shared pixel in window order.
    for (int64_t r = window.rows - 1; r >= 0; --r) {
      float* const to = window.to + r * window.to_steps.row + lane;
      for (int64_t c = window.columns - 1; c >= 0; --c) {
        Add<n>(place == --number ? more : none, to + c * window.to_steps.column);
      }
    }
    if (window.otherwise != nullptr) Add<n>(place == -1 ? more : none, window.otherwise + lane);
  }
};

// Some rows of windows, counted over all images, and some of the channels.
struct Work {
  const Dilation& sizes;
  const float* images;
  const float* filter;  // each filter element is repeated `tile` times
  const float* gradient;
  float* result;
  int64_t tile;
  Shard rows;
  Shard lanes;
};

// Maximum number of windows that are computed together.
int64_t TileOf(const Dilation& sizes) {
  return sizes.columns.stride == 1 && sizes.channels < kFewLanes
             ? std::min(kSideBySide / sizes.channels / kFewLanes * kFewLanes, sizes.columns.output)
             : 1;
}

// Number of windows from `first` on that are computed together: one, or several that are inside the image.
HPU_INLINE int64_t CountTogether(const Work& work, int64_t first) {
  const Dilation::Dimension& d = work.sizes.columns;
  const int64_t end = d.input - (d.window - 1) * d.rate + d.pad_low;  // end of the whole windows, for stride 1
  if (work.tile == 1 || first < d.pad_low) return 1;
  return std::max<int64_t>(std::min({work.tile, d.output - first, end - first}), 1);
}

HPU_INLINE Window WindowOf(const Work& work, int64_t image, const Taps& rows, const Taps& columns) {
  const Dilation& sizes = work.sizes;
  const int64_t channels = sizes.channels, row = sizes.columns.input * channels, place = work.tile * channels;
  Window window = {};
  window.image_steps = {sizes.rows.rate * row, sizes.columns.rate * channels};
  window.filter_steps = {sizes.columns.window * place, place};
  window.rows = rows.count;
  window.columns = columns.count;
  if (rows.count == 0 || columns.count == 0) {
    window.rows = 0;
    return window;
  }
  window.image = work.images + image * sizes.rows.input * row + (rows.begin + rows.first * sizes.rows.rate) * row +
                 (columns.begin + columns.first * sizes.columns.rate) * channels;
  window.filter = work.filter + (rows.first * sizes.columns.window + columns.first) * place;
  return window;
}

template <Dilation::Of of>
HPU_INLINE void Aim(const Work& work, int64_t image, const Taps& rows, const Taps& columns, int64_t output,
                    Window* window) {
  const Dilation& sizes = work.sizes;
  const int64_t channels = sizes.channels;
  const bool has_first = window->rows > 0 && rows.first == 0 && columns.first == 0;
  if constexpr (of == Dilation::Of::kMaxima) {
    window->to = work.result + output * channels;
    return;
  }
  window->gradient = work.gradient + output * channels;
  if constexpr (of == Dilation::Of::kInput) {
    window->to = window->rows > 0 ? work.result + (window->image - work.images) : nullptr;
    window->to_steps = window->image_steps;
    const int64_t row = std::max<int64_t>(rows.begin, 0), column = std::max<int64_t>(columns.begin, 0);
    if (!has_first && row < sizes.rows.input && column < sizes.columns.input) {
      const int64_t pixel = (image * sizes.rows.input + row) * sizes.columns.input + column;
      window->otherwise = work.result + pixel * channels;
    }
  } else {
    window->to = window->rows > 0 ? work.result + (window->filter - work.filter) : nullptr;
    window->to_steps = window->filter_steps;
    if (!has_first) window->otherwise = work.result;
  }
}

template <Dilation::Of of>
struct RunWindows {
  template <int width>
  static HPU_INLINE void Run(const Work& work) {
    const Dilation& sizes = work.sizes;
    for (int64_t i = work.rows.begin; i < work.rows.end; ++i) {
      const int64_t image = i / sizes.rows.output;
      const Taps rows = TapsOf(sizes.rows, i % sizes.rows.output);
      for (int64_t j = 0, together; j < sizes.columns.output; j += together) {
        together = CountTogether(work, j);
        const Taps columns = TapsOf(sizes.columns, j);
        const int64_t end = work.lanes.end + (together - 1) * sizes.channels;
        Window window = WindowOf(work, image, rows, columns);
        Aim<of>(work, image, rows, columns, i * sizes.columns.output + j, &window);
        if constexpr (of == Dilation::Of::kMaxima) {
          OverRegisters<FindMaximum, width>(window, work.lanes.begin, end);
        } else {
          if (window.rows == 0 && window.otherwise == nullptr) continue;
          OverRegisters<AddGradient, width>(window, work.lanes.begin, end);
        }
      }
    }
  }
};

HPU_VECTORIZED_BY_REGISTERS(MakeMaxima, Work, RunWindows<Dilation::Of::kMaxima>)
HPU_VECTORIZED_BY_REGISTERS(AddToImages, Work, RunWindows<Dilation::Of::kInput>)
HPU_VECTORIZED_BY_REGISTERS(AddToFilter, Work, RunWindows<Dilation::Of::kFilter>)

class DilationKernel final : public Kernel {
 public:
  explicit DilationKernel(const Dilation& sizes) : sizes_(sizes), tile_(TileOf(sizes)) {}

  absl::Status Run(const KernelCall& call) const override {
    // Kept per thread, so that a launch allocates nothing.
    thread_local std::vector<float> tiled;
    const auto operand = [&](int i) { return static_cast<const float*>(call.operands[i]); };
    Work work{sizes_, operand(0),  operand(1),          nullptr, static_cast<float*>(call.results[0]),
              tile_,  {0, Rows()}, {0, sizes_.channels}};
    if (tile_ > 1) work.filter = Tiled(work.filter, &tiled);
    if (sizes_.of == Dilation::Of::kMaxima) {
      RunMaxima(call.pool, work);
      return absl::OkStatus();
    }
    work.gradient = operand(2);
    if (sizes_.of == Dilation::Of::kInput) {
      RunInputGradient(call.pool, work);
    } else {
      RunFilterGradient(call.pool, work);
    }
    return absl::OkStatus();
  }

 private:
  int64_t Rows() const { return sizes_.batch * sizes_.rows.output; }
  int64_t Places() const { return sizes_.rows.window * sizes_.columns.window; }
  int64_t TileSize() const { return tile_ * sizes_.channels; }

  const float* Tiled(const float* filter, std::vector<float>* tiled) const {
    tiled->clear();
    for (int64_t place = 0; place < Places(); ++place, filter += sizes_.channels) {
      for (int64_t i = 0; i < tile_; ++i) tiled->insert(tiled->end(), filter, filter + sizes_.channels);
    }
    return tiled->data();
  }

  void RunMaxima(ComputePool& pool, const Work& work) const {
    const int64_t bytes = 4 * sizes_.columns.output * Places() * sizes_.channels;
    RunShards(pool, Rows(), ShardSize(bytes), [&](Shard rows) {
      Work part = work;
      part.rows = rows;
      MakeMaxima(part);
    });
  }

  // Windows overlap, so two threads must not share lanes of an image.
  void RunInputGradient(ComputePool& pool, const Work& work) const {
    const int64_t wanted = sizes_.batch < 2 * pool.threads() ? kFewLanes : sizes_.channels;
    const int64_t blocks = (sizes_.channels + wanted - 1) / wanted, pixels = sizes_.rows.input * sizes_.columns.input;
    RunShards(pool, sizes_.batch * blocks, 1, [&](Shard shard) {
      const int64_t image = shard.begin / blocks, lane = shard.begin % blocks * wanted;
      Work part = work;
      part.rows = {image * sizes_.rows.output, (image + 1) * sizes_.rows.output};
      part.lanes = {lane, std::min(lane + wanted, sizes_.channels)};
      for (int64_t i = image * pixels; i < (image + 1) * pixels; ++i) {
        float* const pixel = work.result + i * sizes_.channels;
        std::fill(pixel + part.lanes.begin, pixel + part.lanes.end, 0.0f);
      }
      AddToImages(part);
    });
  }

  void RunFilterGradient(ComputePool& pool, const Work& work) const {
    const int64_t size = Places() * TileSize(), each = (Rows() + kMaxPieces - 1) / kMaxPieces;
    const int64_t pieces = (Rows() + each - 1) / each;
    thread_local std::vector<float> kept;
    if (static_cast<int64_t>(kept.size()) < pieces * size) kept.resize(pieces * size);
    float* const partials = kept.data();
    RunShards(pool, pieces, 1, [&](Shard shard) {
      Work part = work;
      part.result = partials + shard.begin * size;
      part.rows = {shard.begin * each, std::min((shard.begin + 1) * each, Rows())};
      std::fill_n(part.result, size, 0.0f);
      AddToFilter(part);
    });
    AddUp(partials, pieces, work.result);
  }

  void AddUp(const float* partials, int64_t pieces, float* filter) const {
    const int64_t channels = sizes_.channels;
    std::fill_n(filter, Places() * channels, 0.0f);
    for (int64_t i = 0; i < pieces * Places(); ++i) {
      float* const to = filter + i % Places() * channels;
      for (int64_t j = 0; j < tile_; ++j, partials += channels) {
        for (int64_t c = 0; c < channels; ++c) to[c] += partials[c];
      }
    }
  }

  const Dilation sizes_;
  const int64_t tile_;
};

bool Fits(const Dilation::Dimension& d) {
  constexpr int64_t kMax = int64_t{1} << 31;
  const auto sizes = {d.input, d.output, d.window, d.stride, d.rate};
  return std::min(sizes) > 0 && std::max(sizes) < kMax && 0 <= d.pad_low && d.pad_low < kMax;
}

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> p) {
  constexpr int64_t kMax = int64_t{1} << 31;
  if (p.size() != 3 + 2 * kEach || p[0] < 0 || p[0] > 2 || p[1] <= 0 || p[1] >= kMax || p[2] <= 0 || p[2] >= kMax) {
    return absl::InvalidArgumentError(
        "expected 15 parameters: result (0: maxima, 1: gradient of the images, 2: gradient of the filter), batch and "
        "channels (from 1 to 2^31 - 1), then input, output, window, stride, rate and pad_low of the rows and of the "
        "columns");
  }
  const auto dimension = [](absl::Span<const int64_t> d) {
    return Dilation::Dimension{d[0], d[1], d[2], d[3], d[4], d[5]};
  };
  const Dilation sizes{static_cast<Dilation::Of>(p[0]), p[1], p[2], dimension(p.subspan(3, kEach)),
                       dimension(p.subspan(3 + kEach))};
  if (!Fits(sizes.rows) || !Fits(sizes.columns) || sizes.rows.window * sizes.columns.window >= kMax) {
    return absl::InvalidArgumentError(
        "invalid sizes of rows or columns: expected input, output, window, stride and rate from 1 to 2^31 - 1, pad_low "
        "from 0 to 2^31 - 1, and windows of fewer than 2^31 elements");
  }
  return std::make_unique<DilationKernel>(sizes);
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec Dilation::Spec() const {
  KernelSpec spec{kName, {static_cast<int64_t>(of), batch, channels}};
  for (const Dimension& d : {rows, columns}) {
    spec.parameters.insert(spec.parameters.end(), {d.input, d.output, d.window, d.stride, d.rate, d.pad_low});
  }
  return spec;
}

}  // namespace hpu::emulator
