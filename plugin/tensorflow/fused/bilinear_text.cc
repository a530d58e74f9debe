#include "plugin/tensorflow/fused/bilinear_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace hpu {

std::string Element(std::string_view values, int index, std::string_view type) {
  return absl::StrCat("GatherV2(", values, ", ", index, ", 0)[Tparams=", type, ", Tindices=int32, Taxis=int32]");
}

std::string Neighbours(std::string_view prefix, std::string_view at, std::string_view size, bool clamped) {
  constexpr char kClamped[] = R"(
  $p_last = ExpandDims(Cast(Sub($size, 1))[DstT=float], -1)[Tdim=int32]
  $p_at = Minimum(Maximum($at, 0), $p_last)
  $p_before = Floor($p_at)
  $p_part1 = Sub($p_at, $p_before)
  $p_part0 = Sub(1, $p_part1)
  $p_index0 = Cast($p_before)[DstT=int32]
  $p_index1 = Cast(Minimum(AddV2($p_before, 1), $p_last))[DstT=int32]
)";
  constexpr char kOpen[] = R"(
  $p_last = Cast(Sub($size, 1))[DstT=float]
  $p_before = Floor($at)
  $p_after = AddV2($p_before, 1)
  $p_distance = Sub($at, $p_before)
  $p_is_inside0 = LogicalAnd(GreaterEqual($p_before, 0), LessEqual($p_before, $p_last))
  $p_is_inside1 = LogicalAnd(GreaterEqual($p_after, 0), LessEqual($p_after, $p_last))
  $p_part0 = SelectV2($p_is_inside0, Sub(1, $p_distance), 0)
  $p_part1 = SelectV2($p_is_inside1, $p_distance, 0)
  $p_index0 = Cast(Minimum(Maximum($p_before, 0), $p_last))[DstT=int32]
  $p_index1 = Cast(Minimum(Maximum($p_after, 0), $p_last))[DstT=int32]
)";
  return absl::StrReplaceAll(clamped ? kClamped : kOpen, {{"$p", prefix}, {"$at", at}, {"$size", size}});
}

}  // namespace hpu
