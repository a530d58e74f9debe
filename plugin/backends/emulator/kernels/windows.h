// Geometry of pooling windows.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_WINDOWS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_WINDOWS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace hpu::emulator {

// Windows over the three middle dimensions of an array [outer, …, inner]; an unused dimension has one element. Window
// `o` of a dimension holds the padded elements o * stride + k * dilation - pad_low, k < window. Element i of the input
// is padded element i * base_dilation; padded elements between and around the input are empty.
struct Windows {
  struct Dimension {
    int64_t input = 1;
    int64_t output = 1;
    int64_t window = 1;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t base_dilation = 1;
    int64_t pad_low = 0;
  };
  int64_t outer = 1;
  int64_t inner = 1;
  std::array<Dimension, 3> dimensions;

  // Numbers of input elements, of output elements and of elements of one window, per outer and inner index.
  int64_t inputs() const { return dimensions[0].input * dimensions[1].input * dimensions[2].input; }
  int64_t outputs() const { return dimensions[0].output * dimensions[1].output * dimensions[2].output; }
  int64_t elements() const { return dimensions[0].window * dimensions[1].window * dimensions[2].window; }

  void AppendTo(std::vector<int64_t>* parameters) const;
  // Inverse of AppendTo. InvalidArgument if a size is not positive or implausibly large.
  static absl::StatusOr<Windows> Parse(absl::Span<const int64_t> parameters);
};

// Windows with precomputed input elements. Immutable.
class WindowTable {
 public:
  explicit WindowTable(const Windows& windows);

  const Windows& windows() const { return windows_; }
  // Input elements of a window in row-major order: offsets from `first`, in elements of the array.
  struct Elements {
    bool whole;  // no element is empty, and the offsets are the same as in all whole windows
    int64_t first;
    const int64_t* offsets;
    int64_t count;
  };
  // Elements of window [plane, row, column]. `found` has room for elements() offsets, and holds the returned offsets if
  // the window is not whole.
  Elements ElementsOf(int64_t plane, int64_t row, int64_t column, int64_t* found) const {
    if (!whole_[0][plane] || !whole_[1][row] || !whole_[2][column]) {
      return {false, 0, found, FindElements(plane, row, column, found)};
    }
    const int64_t rows = InputOf(0, plane, 0) * windows_.dimensions[1].input + InputOf(1, row, 0);
    const int64_t first = (rows * windows_.dimensions[2].input + InputOf(2, column, 0)) * windows_.inner;
    return {true, first, offsets_.data(), static_cast<int64_t>(offsets_.size())};
  }
  // Offsets to prefetch, relative to a whole window's first element: elements below the window that the next row of
  // windows is the first to read. Empty for long rows, which processors prefetch by themselves, and for dilated rows.
  const std::vector<int64_t>& ahead() const { return ahead_; }
  // Whether every input element is in some window, and whether some element is in several windows.
  bool covers() const { return covers_; }
  bool overlaps() const { return overlaps_; }

 private:
  // The input element at position `k` of window `o` of a dimension; -1 if the position is empty.
  int64_t InputOf(int dimension, int64_t o, int64_t k) const {
    return inputs_[dimension][o * windows_.dimensions[dimension].window + k];
  }
  int64_t FindElements(int64_t plane, int64_t row, int64_t column, int64_t* offsets) const;

  const Windows windows_;
  std::array<std::vector<int64_t>, 3> inputs_;
  std::array<std::vector<bool>, 3> whole_;
  // Offsets of a whole window's elements from its first element; the same for all whole windows.
  std::vector<int64_t> offsets_;
  std::vector<int64_t> ahead_;
  bool covers_ = true;
  bool overlaps_ = false;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_WINDOWS_H_
