#include "plugin/backends/emulator/kernels/windows.h"

#include <algorithm>

namespace hpu::emulator {
namespace {

constexpr size_t kEach = 7;

int64_t ElementOf(const Windows::Dimension& d, int64_t o, int64_t k) {
  const int64_t padded = o * d.stride + k * d.dilation - d.pad_low;
  if (padded < 0 || padded % d.base_dilation != 0) return -1;
  const int64_t index = padded / d.base_dilation;
  return index < d.input ? index : -1;
}

bool Fits(const Windows::Dimension& d) {
  constexpr int64_t kMost = int64_t{1} << 31;
  const auto sizes = {d.input, d.output, d.window, d.stride, d.dilation, d.base_dilation};
  return std::min(sizes) > 0 && std::max(sizes) < kMost && -kMost < d.pad_low && d.pad_low < kMost;
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
    return absl::InvalidArgumentError("not the parameters of windows");
  }
  windows.outer = parameters[0];
  windows.inner = parameters[1];
  for (size_t i = 0; i < windows.dimensions.size(); ++i) {
    const auto p = parameters.subspan(2 + i * kEach, kEach);
    windows.dimensions[i] = {p[0], p[1], p[2], p[3], p[4], p[5], p[6]};
  }
  if (windows.outer <= 0 || windows.inner <= 0 ||
      !std::all_of(windows.dimensions.begin(), windows.dimensions.end(), Fits)) {
    return absl::InvalidArgumentError("sizes of windows are out of range");
  }
  return windows;
}

WindowTable::WindowTable(const Windows& windows) : windows_(windows) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Windows::Dimension& d = windows.dimensions[i];
    for (int64_t o = 0; o < d.output; ++o) {
      for (int64_t k = 0; k < d.window; ++k) inputs_[i].push_back(ElementOf(d, o, k));
    }
  }
}

}  // namespace hpu::emulator
