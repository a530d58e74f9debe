#include "plugin/backends/emulator/kernels/crop_gradient.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "crop_gradient.1";
// Maximum number of tasks. Limited because each task reads all boxes.
constexpr int64_t kMaxPieces = 64;
// Number of sums that are accumulated in parallel.
constexpr int kSums = 16;

// The two pixels around a sampling coordinate, and the weight of the second pixel.
struct Place {
  int64_t first;
  int64_t second;
  float fraction;
};

// Returns false if the sampling coordinate `place` is outside the image.
HPU_INLINE bool Find(float place, int64_t length, Place* found) {
  if (!(place >= 0 && place < static_cast<float>(length))) return false;
  found->first = static_cast<int64_t>(place);
  found->fraction = place - static_cast<float>(found->first);
  found->second = std::min(found->first + (found->fraction > 0 ? 1 : 0), length - 1);
  return found->first < length;
}

// Work on the images' rows from `begin` to `end`.
struct ImageWork {
  const CropGradient& sizes;
  const float* gradient;
  const float* y;
  const float* x;
  const int32_t* image_of_box;
  float* images;
  int64_t begin;
  int64_t end;
};

// The contributions of a crop's pixel to two adjacent pixels of the image.
struct Pixel {
  const float* from;
  float* to;
  float* next;
  float weight;
  float next_weight;
};

struct AddOne {
  template <int n>
  static HPU_INLINE void Run(const Pixel& pixel, int64_t lane) {
    const float* from = pixel.from + lane;
    float* const to = pixel.to + lane;
    HPU_SIMD
    for (int i = 0; i < n; ++i) to[i] += pixel.weight * from[i];
  }
};

struct AddTwo {
  template <int n>
  static HPU_INLINE void Run(const Pixel& pixel, int64_t lane) {
    const float* from = pixel.from + lane;
    float *const to = pixel.to + lane, *const next = pixel.next + lane;
    HPU_SIMD
    for (int i = 0; i < n; ++i) {
      to[i] += pixel.weight * from[i];
      next[i] += pixel.next_weight * from[i];
    }
  }
};

// Adds a row of a crop to a row of the image.
HPU_INLINE void AddRow(const CropGradient& sizes, const float* from, const float* x, float weight, float* row) {
  Place column;
  for (int64_t j = 0; j < sizes.columns; ++j, from += sizes.channels) {
    if (!Find(x[j], sizes.width, &column)) continue;
    const Pixel pixel{from, row + column.first * sizes.channels, row + column.second * sizes.channels,
                      weight * (1 - column.fraction), weight * column.fraction};
    if (column.second > column.first) {
      OverLanes<AddTwo>(pixel, 0, sizes.channels);
    } else {
      OverLanes<AddOne>(pixel, 0, sizes.channels);
    }
  }
}

HPU_INLINE void MakeImageRows(const ImageWork& work) {
  const CropGradient& sizes = work.sizes;
  const int64_t row_size = sizes.width * sizes.channels, crop_row_size = sizes.columns * sizes.channels;
  std::fill(work.images + work.begin * row_size, work.images + work.end * row_size, 0.0f);
  for (int64_t box = 0; box < sizes.boxes; ++box) {
    const int64_t image = work.image_of_box[box], top = image * sizes.height;
    if (image < 0 || image >= sizes.images || top + sizes.height <= work.begin || top >= work.end) continue;
    for (int64_t i = 0; i < sizes.rows; ++i) {
      Place row;
      if (!Find(work.y[box * sizes.rows + i], sizes.height, &row)) continue;
      const float* const from = work.gradient + (box * sizes.rows + i) * crop_row_size;
      const float* const x = work.x + box * sizes.columns;
      const int64_t first = top + row.first, second = top + row.second;
      if (first >= work.begin && first < work.end) {
        AddRow(sizes, from, x, 1 - row.fraction, work.images + first * row_size);
      }
      if (second > first && second >= work.begin && second < work.end) {
        AddRow(sizes, from, x, row.fraction, work.images + second * row_size);
      }
    }
  }
}

HPU_VECTORIZED(RunImageRows, ImageWork, MakeImageRows)

// Work on the boxes from `begin` to `end`.
struct PlacesWork {
  const CropGradient& sizes;
  const float* gradient;
  const float* images;
  const float* y;
  const float* x;
  const int32_t* image_of_box;
  float* places;
  float* sums;  // kSums for each column of a crop
  int64_t begin;
  int64_t end;
};

// A pixel of a crop, its four source pixels, and the weights of the lower and of the right source pixels.
struct Corners {
  const float* gradient;
  const float* top_left;
  const float* top_right;
  const float* bottom_left;
  const float* bottom_right;
  float below;
  float right;
  float* by_y;  // kSums
  float* by_x;
};

struct AddSlopes {
  template <int n>
  static HPU_INLINE void Run(const Corners& corners, int64_t lane) {
    const float *const gradient = corners.gradient + lane, *const top_left = corners.top_left + lane,
                       *const top_right = corners.top_right + lane, *const bottom_left = corners.bottom_left + lane,
                       *const bottom_right = corners.bottom_right + lane;
    float *const by_y = corners.by_y, *const by_x = corners.by_x;
    const float below = corners.below, right = corners.right;
    HPU_SIMD
    for (int i = 0; i < n; ++i) {
      by_y[i] +=
          gradient[i] * ((1 - right) * (bottom_left[i] - top_left[i]) + right * (bottom_right[i] - top_right[i]));
      by_x[i] +=
          gradient[i] * ((1 - below) * (top_right[i] - top_left[i]) + below * (bottom_right[i] - bottom_left[i]));
    }
  }
};

HPU_INLINE float SumOf(const float* sums) {
  float sum = 0;
  for (int i = 0; i < kSums; ++i) sum += sums[i];
  return sum;
}

HPU_INLINE void MakePlacesOfBox(const PlacesWork& work, int64_t box, const float* image, float* places) {
  const CropGradient& sizes = work.sizes;
  const int64_t row_size = sizes.width * sizes.channels;
  std::fill_n(work.sums, sizes.columns * kSums, 0.0f);
  for (int64_t i = 0; i < sizes.rows; ++i) {
    Place row, column;
    if (!Find(work.y[box * sizes.rows + i], sizes.height, &row)) continue;
    const float* const top = image + row.first * row_size;
    const float* const bottom = image + row.second * row_size;
    float sums[kSums] = {};
    for (int64_t j = 0; j < sizes.columns; ++j) {
      if (!Find(work.x[box * sizes.columns + j], sizes.width, &column)) continue;
      const int64_t left = column.first * sizes.channels, right = column.second * sizes.channels;
      const float* const gradient = work.gradient + ((box * sizes.rows + i) * sizes.columns + j) * sizes.channels;
      const Corners corners{gradient,     top + left,      top + right, bottom + left,        bottom + right,
                            row.fraction, column.fraction, sums,        work.sums + j * kSums};
      OverRegisters<AddSlopes, kSums>(corners, 0, sizes.channels);
    }
    places[i] = SumOf(sums);
  }
  for (int64_t j = 0; j < sizes.columns; ++j) places[sizes.rows + j] = SumOf(work.sums + j * kSums);
}

HPU_INLINE void MakePlaces(const PlacesWork& work) {
  const CropGradient& sizes = work.sizes;
  const int64_t places = sizes.rows + sizes.columns, image_size = sizes.height * sizes.width * sizes.channels;
  for (int64_t box = work.begin; box < work.end; ++box) {
    std::fill_n(work.places + box * places, places, 0.0f);
    const int64_t image = work.image_of_box[box];
    if (image < 0 || image >= sizes.images) continue;
    MakePlacesOfBox(work, box, work.images + image * image_size, work.places + box * places);
  }
}

HPU_VECTORIZED(RunPlaces, PlacesWork, MakePlaces)

class CropGradientKernel final : public Kernel {
 public:
  explicit CropGradientKernel(const CropGradient& sizes) : sizes_(sizes) {}

  absl::Status Run(const KernelCall& call) const override {
    if (sizes_.of == CropGradient::Of::kImage) {
      RunImage(call);
    } else {
      RunOfPlaces(call);
    }
    return absl::OkStatus();
  }

 private:
  static const float* Floats(const KernelCall& call, int operand) {
    return static_cast<const float*>(call.operands[operand]);
  }

  void RunImage(const KernelCall& call) const {
    const int64_t image_rows = sizes_.images * sizes_.height;
    const int64_t bytes =
        8 * sizes_.channels * (sizes_.width + sizes_.boxes * sizes_.rows * sizes_.columns * 2 / image_rows);
    const int64_t each = std::max(ShardSize(bytes), (image_rows + kMaxPieces - 1) / kMaxPieces);
    RunShards(call.pool, image_rows, each, [&](Shard shard) {
      RunImageRows({sizes_, Floats(call, 0), Floats(call, 1), Floats(call, 2),
                    static_cast<const int32_t*>(call.operands[3]), static_cast<float*>(call.results[0]), shard.begin,
                    shard.end});
    });
  }

  void RunOfPlaces(const KernelCall& call) const {
    RunShards(call.pool, sizes_.boxes, ShardSize(20 * sizes_.rows * sizes_.columns * sizes_.channels),
              [&](Shard shard) {
                // Kept per thread, so that a launch allocates nothing.
                thread_local std::vector<float> sums;
                if (static_cast<int64_t>(sums.size()) < sizes_.columns * kSums) sums.resize(sizes_.columns * kSums);
                RunPlaces({sizes_, Floats(call, 0), Floats(call, 1), Floats(call, 2), Floats(call, 3),
                           static_cast<const int32_t*>(call.operands[4]), static_cast<float*>(call.results[0]),
                           sums.data(), shard.begin, shard.end});
              });
  }

  const CropGradient sizes_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  constexpr int64_t kMax = int64_t{1} << 31;
  if (parameters.size() != 8 || parameters[0] >> 1 != 0 ||
      *std::min_element(parameters.begin() + 1, parameters.end()) <= 0 ||
      *std::max_element(parameters.begin() + 1, parameters.end()) > kMax) {
    return absl::InvalidArgumentError(
        "expected 8 parameters: kind of gradient (0: images, 1: sampling coordinates), then boxes, rows, columns, "
        "images, height, width and channels, each from 1 to 2^31");
  }
  return std::make_unique<CropGradientKernel>(CropGradient{static_cast<CropGradient::Of>(parameters[0]), parameters[1],
                                                           parameters[2], parameters[3], parameters[4], parameters[5],
                                                           parameters[6], parameters[7]});
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec CropGradient::Spec() const {
  return {kName, {static_cast<int64_t>(of), boxes, rows, columns, images, height, width, channels}};
}

}  // namespace hpu::emulator
