#include "plugin/backends/emulator/kernels/windows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hpu::emulator {
namespace {

constexpr size_t kEach = 7;
// float32 elements per cache line.
constexpr int64_t kLine = 16;
// Row length, in elements, from which processors prefetch a row even when several rows are read.
constexpr int64_t kLongImageRow = 2048;

int64_t ElementOf(const Windows::Dimension& d, int64_t o, int64_t k) {
  const int64_t padded = o * d.stride + k * d.dilation - d.pad_low;
  if (padded < 0 || padded % d.base_dilation != 0) return -1;
  const int64_t index = padded / d.base_dilation;
  return index < d.input ? index : -1;
}

bool Fits(const Windows::Dimension& d) {
  constexpr int64_t kMax = int64_t{1} << 31;
  const auto sizes = {d.input, d.output, d.window, d.stride, d.dilation, d.base_dilation};
  return std::min(sizes) > 0 && std::max(sizes) < kMax && -kMax < d.pad_low && d.pad_low < kMax;
}

}  // namespace

void Windows::AppendTo(std::vector<int64_t>* parameters) const {
  parameters->insert(parameters->end(), {outer, inner});
  for (const Dimension& d : dimensions) {
    parameters->insert(parameters->end(),
                       {d.input, d.output, d.window, d.stride, d.dilation, d.base_dilation, d.pad_low});
  }
}

absl::StatusOr<Windows> Windows::Parse(absl::Span<const int64_t> parameters) {
  Windows windows;
  if (parameters.size() != 2 + kEach * windows.dimensions.size()) {
    return absl::InvalidArgumentError(absl::StrCat("expected ", 2 + kEach * windows.dimensions.size(),
                                                   " window parameters, got ", parameters.size()));
  }
  windows.outer = parameters[0];
  windows.inner = parameters[1];
  for (size_t i = 0; i < windows.dimensions.size(); ++i) {
    const auto p = parameters.subspan(2 + i * kEach, kEach);
    windows.dimensions[i] = {p[0], p[1], p[2], p[3], p[4], p[5], p[6]};
  }
  if (windows.outer <= 0 || windows.inner <= 0 ||
      !std::all_of(windows.dimensions.begin(), windows.dimensions.end(), Fits)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "invalid window parameters [", absl::StrJoin(parameters, ", "),
        "]: expected outer > 0 and inner > 0, then for each of 3 dimensions input, output, window, stride, dilation "
        "and base_dilation from 1 to 2^31 - 1, and pad_low between -2^31 and 2^31"));
  }
  return windows;
}

WindowTable::WindowTable(const Windows& windows) : windows_(windows) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Windows::Dimension& d = windows.dimensions[i];
    std::vector<int64_t> holders(d.input);  // number of windows that contain each input element
    for (int64_t o = 0; o < d.output; ++o) {
      // Windows that skip elements of a dilated input have irregular offsets.
      bool whole = d.base_dilation == 1 || d.window == 1;
      for (int64_t k = 0; k < d.window; ++k) {
        const int64_t element = ElementOf(d, o, k);
        inputs_[i].push_back(element);
        whole &= element >= 0;
        if (element >= 0) ++holders[element];
      }
      whole_[i].push_back(whole);
    }
    covers_ &= std::find(holders.begin(), holders.end(), 0) == holders.end();
    overlaps_ |= std::any_of(holders.begin(), holders.end(), [](int64_t count) { return count > 1; });
  }
  const auto& [planes, rows, columns] = windows.dimensions;
  for (int64_t a = 0; a < planes.window; ++a) {
    for (int64_t b = 0; b < rows.window; ++b) {
      for (int64_t c = 0; c < columns.window; ++c) {
        const int64_t plane = a * planes.dilation, row = b * rows.dilation, column = c * columns.dilation;
        offsets_.push_back(((plane * rows.input + row) * columns.input + column) * windows.inner);
      }
    }
  }
  const int64_t row = columns.input * windows.inner;
  if (row > kLongImageRow || rows.dilation > 1) return;
  for (int64_t r = rows.window; r < rows.window + rows.stride; ++r) {
    for (int64_t i = 0; i < columns.stride * windows.inner; i += kLine) ahead_.push_back(r * row + i);
  }
}

int64_t WindowTable::FindElements(int64_t plane, int64_t row, int64_t column, int64_t* offsets) const {
  const auto& [planes, rows, columns] = windows_.dimensions;
  int64_t count = 0;
  for (int64_t a = 0; a < planes.window; ++a) {
    const int64_t p = InputOf(0, plane, a);
    for (int64_t b = 0; b < rows.window; ++b) {
      const int64_t r = p < 0 ? -1 : InputOf(1, row, b);
      for (int64_t c = 0; c < columns.window; ++c) {
        const int64_t element = r < 0 ? -1 : InputOf(2, column, c);
        if (element >= 0) offsets[count++] = ((p * rows.input + r) * columns.input + element) * windows_.inner;
      }
    }
  }
  return count;
}

}  // namespace hpu::emulator
