#include "plugin/backends/gaudi/lowerings/select_and_scatter.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/backends/common/hlo/window_reduction.h"
#include "plugin/backends/gaudi/lowerings/scalar_computations.h"
#include "plugin/backends/gaudi/lowerings/window_reductions.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/plan/padding.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

// Maximum number of elements of a window. Larger windows would take thousands of nodes.
constexpr int64_t kMaxTaps = 512;

// An element of each window: its position in the window, fastest dimension first.
using Tap = std::vector<int64_t>;

// The taps in row-major order.
std::vector<Tap> TapsOf(const Windows& windows) {
  std::vector<Tap> taps = {{}};
  // Adds the slowest dimension first, so that the fastest one varies first.
  for (size_t i = windows.size(); i-- > 0;) {
    std::vector<Tap> longer;
    for (const Tap& tap : taps) {
      for (int64_t k = 0; k < windows[i].window; ++k) {
        longer.push_back({k});
        longer.back().insert(longer.back().end(), tap.begin(), tap.end());
      }
    }
    taps = std::move(longer);
  }
  return taps;
}

class SelectAndScatterNodes {
 public:
  SelectAndScatterNodes(Lowering& lowering, const xla::HloInstruction& instruction)
      : lowering_(lowering),
        builder_(lowering.builder()),
        instruction_(instruction),
        windows_(WindowsFromFastest(
            hlo::WindowDimensionsOf(instruction.window(), instruction.shape(), instruction.operand(1)->shape()))) {}

  absl::StatusOr<TensorId> Scatter(TensorId image, TensorId gradient) {
    const std::vector<Tap> taps = TapsOf(windows_);
    if (taps.size() > kMaxTaps) {
      return absl::UnimplementedError(absl::StrCat(
          "windows of ", taps.size(), " elements are too large for select-and-scatter: the maximum is ", kMaxTaps));
    }
    HPU_ASSIGN_OR_RETURN(const TensorId padded, PadWithZeros(builder_, image, PaddingOfWindows(windows_)));
    HPU_RETURN_IF_ERROR(Choose(taps, padded));
    const synapse::synDataType type = builder_.type(gradient);
    // Sums of bfloat16 lose their low bits.
    if (IsFloat(type)) {
      HPU_ASSIGN_OR_RETURN(gradient, Cast(builder_, gradient, synapse::syn_type_float));
    }
    TensorId sum = kNoTensor;
    for (size_t i = 0; i < taps.size(); ++i) {
      HPU_ASSIGN_OR_RETURN(const TensorId part, PartOf(taps[i], i, gradient));
      if (sum == kNoTensor) {
        sum = part;
      } else {
        HPU_ASSIGN_OR_RETURN(sum, Elementwise(builder_, "add_fwd", {sum, part}));
      }
    }
    return Cast(builder_, sum, type);
  }

 private:
  // Sets choice_ to the number of each window's chosen tap; -1 for a window without elements.
  absl::Status Choose(const std::vector<Tap>& taps, TensorId padded) {
    const size_t rank = windows_.size();
    HPU_ASSIGN_OR_RETURN(choice_, IntegerScalar(builder_, synapse::syn_type_int32, -1, rank));
    TensorId chosen = kNoTensor;  // values of the choice
    for (size_t i = 0; i < taps.size(); ++i) {
      TensorId element = padded;
      for (size_t d = 0; d < rank; ++d) {
        const hlo::WindowDimension& w = windows_[d];
        HPU_ASSIGN_OR_RETURN(element, SliceAxis(builder_, element, d, taps[i][d] * w.dilation, w.output, w.stride));
      }
      HPU_ASSIGN_OR_RETURN(const TensorId exists, Exists(taps[i]));
      TensorId takes = exists;
      if (chosen == kNoTensor) {
        chosen = element;
      } else {
        HPU_ASSIGN_OR_RETURN(takes, Replaces(element, chosen));
        HPU_ASSIGN_OR_RETURN(takes, Elementwise(builder_, "bitwise_and_fwd", {takes, exists}));
      }
      HPU_ASSIGN_OR_RETURN(chosen, Where(builder_, takes, element, chosen));
      HPU_ASSIGN_OR_RETURN(const TensorId number,
                           IntegerScalar(builder_, synapse::syn_type_int32, static_cast<int64_t>(i), rank));
      HPU_ASSIGN_OR_RETURN(choice_, Where(builder_, takes, number, choice_));
    }
    return absl::OkStatus();
  }

  // Whether an element of the image replaces the choice: there is no choice yet, or `select` does not keep it.
  absl::StatusOr<TensorId> Replaces(TensorId element, TensorId chosen) {
    const Sizes sizes = builder_.sizes(element);
    HPU_ASSIGN_OR_RETURN(element, Reshape(builder_, element, {ElementCount(sizes)}));
    HPU_ASSIGN_OR_RETURN(chosen, Reshape(builder_, chosen, {ElementCount(sizes)}));
    HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> stays,
                         ApplyToElements(lowering_, instruction_, *instruction_.select(), {chosen, element}));
    HPU_ASSIGN_OR_RETURN(TensorId replaces, Not(builder_, stays.front()));
    HPU_ASSIGN_OR_RETURN(replaces, Reshape(builder_, replaces, sizes));
    HPU_ASSIGN_OR_RETURN(const TensorId zero, ScalarLike(builder_, choice_, 0));
    HPU_ASSIGN_OR_RETURN(const TensorId is_first, Compare(builder_, "less_fwd", choice_, zero));
    return Elementwise(builder_, "bitwise_or_fwd", {is_first, replaces});
  }

  // A mask of the windows in which the tap is an element of the image. Sizes are 1 where all windows agree.
  absl::StatusOr<TensorId> Exists(const Tap& tap) {
    HPU_ASSIGN_OR_RETURN(TensorId mask, IntegerScalar(builder_, synapse::syn_type_int8, 1, windows_.size()));
    for (size_t d = 0; d < windows_.size(); ++d) {
      const hlo::WindowDimension& w = windows_[d];
      std::string inside(w.output, 1);
      bool is_all = true;
      for (int64_t o = 0; o < w.output; ++o) {
        const int64_t position = o * w.stride + tap[d] * w.dilation - w.pad_low;
        inside[o] = position >= 0 && position < w.input;
        is_all &= inside[o] == 1;
      }
      if (is_all) continue;
      Sizes sizes(windows_.size(), 1);
      sizes[d] = w.output;
      HPU_ASSIGN_OR_RETURN(const TensorId axis_mask,
                           builder_.AddConstant({synapse::syn_type_int8, sizes}, std::move(inside)));
      HPU_ASSIGN_OR_RETURN(mask, Elementwise(builder_, "bitwise_and_fwd", {mask, axis_mask}));
    }
    return mask;
  }

  // The gradients of windows that chose the tap, at the tap's positions in an image of zeros.
  absl::StatusOr<TensorId> PartOf(const Tap& tap, size_t number, TensorId gradient) {
    HPU_ASSIGN_OR_RETURN(const TensorId own, ScalarLike(builder_, choice_, static_cast<double>(number)));
    HPU_ASSIGN_OR_RETURN(const TensorId is_own, Compare(builder_, "equal_fwd", choice_, own));
    HPU_ASSIGN_OR_RETURN(const TensorId zero, ScalarLike(builder_, gradient, 0));
    HPU_ASSIGN_OR_RETURN(const TensorId part, Where(builder_, is_own, gradient, zero));
    Padding places(windows_.size());
    for (size_t d = 0; d < windows_.size(); ++d) {
      const hlo::WindowDimension& w = windows_[d];
      places.steps[d] = w.stride;
      places.low[d] = tap[d] * w.dilation - w.pad_low;
      places.high[d] = w.input - places.low[d] - ((w.output - 1) * w.stride + 1);
    }
    return PadWithZeros(builder_, part, places);
  }

  Lowering& lowering_;
  PlanBuilder& builder_;
  const xla::HloInstruction& instruction_;
  const Windows windows_;
  TensorId choice_ = kNoTensor;
};

}  // namespace

absl::StatusOr<TensorId> ScatterToChosen(Lowering& lowering, const xla::HloInstruction& instruction, TensorId image,
                                         TensorId gradient) {
  return SelectAndScatterNodes(lowering, instruction).Scatter(image, gradient);
}

}  // namespace hpu::gaudi
