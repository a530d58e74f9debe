#include "plugin/compiler/dynamic_shapes/row_rules.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tsl/platform/errors.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hpu {
namespace {

using Instruction = RowInstruction;
using Rows = std::optional<RowDimension>;

absl::Status Refuse(const Instruction& instruction, absl::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat(instruction.proto->opcode(), " ", what));
}

absl::Status Require(bool condition, const Instruction& instruction, absl::string_view what) {
  return condition ? absl::OkStatus() : Refuse(instruction, what);
}

// Index of `dimension` in the list, or -1.
template <typename List>
int64_t PositionIn(const List& list, int64_t dimension) {
  const auto it = absl::c_find(list, dimension);
  return it == list.end() ? -1 : it - list.begin();
}

Rows MovedTo(const Rows& rows, int64_t dimension) { return RowDimension{dimension, rows->block}; }

bool HasRows(const Instruction& instruction, int operand) { return instruction.operands[operand].rows.has_value(); }

bool OnlyFirstHasRows(const Instruction& instruction) {
  for (size_t i = 1; i < instruction.operands.size(); ++i) {
    if (HasRows(instruction, i)) return false;
  }
  return HasRows(instruction, 0);
}

// Requires the rows of all results to be in the dimension `expected`.
absl::Status RequireResult(const Instruction& instruction, const Rows& expected) {
  const bool all = absl::c_all_of(instruction.results, [&](const RowArray& result) { return result.rows == expected; });
  return Require(all, instruction, "moves the rows in an unsupported way");
}

// The rows of each operand, except scalars, must be in the result's row dimension.
absl::Status Elementwise(const Instruction& instruction) {
  const RowArray& result = instruction.results.front();
  for (const RowArray& operand : instruction.operands) {
    if (operand.shape->dimensions_size() == 0) continue;
    TF_RETURN_IF_ERROR(Require(operand.rows == result.rows, instruction, "combines rows with each other"));
  }
  return absl::OkStatus();
}

absl::Status Broadcast(const Instruction& instruction) {
  const RowArray& operand = instruction.operands.front();
  const RowArray& result = instruction.results.front();
  if (operand.rows) {
    return RequireResult(instruction, MovedTo(operand.rows, instruction.proto->dimensions(operand.rows->dimension)));
  }
  const bool repeated = PositionIn(instruction.proto->dimensions(), result.rows->dimension) < 0;
  return Require(repeated, instruction, "creates rows from an operand without rows");
}

// In row-major order, a row must keep its number of consecutive elements.
absl::Status Reshape(const Instruction& instruction) {
  const RowArray& operand = instruction.operands.front();
  const RowArray& result = instruction.results.front();
  TF_RETURN_IF_ERROR(Require(operand.rows && result.rows, instruction, "mixes rows with another dimension"));
  const bool same = operand.InnerSize() * operand.rows->block == result.InnerSize() * result.rows->block;
  return Require(same, instruction, "mixes rows with another dimension");
}

absl::Status Transpose(const Instruction& instruction) {
  const Rows& rows = instruction.operands.front().rows;
  return RequireResult(instruction, MovedTo(rows, PositionIn(instruction.proto->dimensions(), rows->dimension)));
}

// Maps a dimension of a dot operand to the result's dimension; -1 for a contracted dimension. `before`: number of free
// dimensions of the other operand that come first in the result.
template <typename List>
int64_t DotResultDimension(int64_t dimension, const List& batch, const List& contracting, int64_t before) {
  if (PositionIn(contracting, dimension) >= 0) return -1;
  if (const int64_t position = PositionIn(batch, dimension); position >= 0) return position;
  const auto earlier = [&](const List& list) {
    return absl::c_count_if(list, [&](int64_t other) { return other < dimension; });
  };
  return batch.size() + before + dimension - earlier(batch) - earlier(contracting);
}

absl::Status Dot(const Instruction& instruction) {
  const xla::DotDimensionNumbers& numbers = instruction.proto->dot_dimension_numbers();
  const RowArray& left = instruction.operands[0];
  const RowArray& right = instruction.operands[1];
  const int64_t left_free =
      left.shape->dimensions_size() - numbers.lhs_batch_dimensions_size() - numbers.lhs_contracting_dimensions_size();
  for (const RowArray* operand : {&left, &right}) {
    if (!operand->rows) continue;
    const bool is_left = operand == &left;
    const int64_t dimension = DotResultDimension(
        operand->rows->dimension, is_left ? numbers.lhs_batch_dimensions() : numbers.rhs_batch_dimensions(),
        is_left ? numbers.lhs_contracting_dimensions() : numbers.rhs_contracting_dimensions(), is_left ? 0 : left_free);
    TF_RETURN_IF_ERROR(Require(dimension >= 0, instruction, "sums over the rows"));
    TF_RETURN_IF_ERROR(RequireResult(instruction, MovedTo(operand->rows, dimension)));
  }
  return absl::OkStatus();
}

absl::Status Convolution(const Instruction& instruction) {
  const xla::ConvolutionDimensionNumbers& numbers = instruction.proto->convolution_dimension_numbers();
  const Rows& rows = instruction.operands[0].rows;
  const bool batch = OnlyFirstHasRows(instruction) && rows->dimension == numbers.input_batch_dimension() &&
                     instruction.proto->batch_group_count() <= 1;
  TF_RETURN_IF_ERROR(Require(batch, instruction, "convolves over the rows"));
  return RequireResult(instruction, MovedTo(rows, numbers.output_batch_dimension()));
}

absl::Status Reduce(const Instruction& instruction) {
  const size_t arrays = instruction.operands.size() / 2;  // the other half of the operands are initial values
  const Rows& rows = instruction.operands.front().rows;
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    TF_RETURN_IF_ERROR(
        Require(instruction.operands[i].rows == (i < arrays ? rows : Rows()), instruction, "combines rows"));
  }
  const auto& dimensions = instruction.proto->dimensions();
  TF_RETURN_IF_ERROR(Require(PositionIn(dimensions, rows->dimension) < 0, instruction, "operates across the rows"));
  const int64_t earlier = absl::c_count_if(dimensions, [&](int64_t other) { return other < rows->dimension; });
  return RequireResult(instruction, MovedTo(rows, rows->dimension - earlier));
}

// Reduce-window and select-and-scatter: a window must contain one row only.
absl::Status Window(const Instruction& instruction) {
  for (const RowArray& operand : instruction.operands) {
    if (operand.shape->dimensions_size() == 0) continue;
    TF_RETURN_IF_ERROR(Require(operand.rows == instruction.results.front().rows, instruction, "combines rows"));
  }
  const Rows& rows = instruction.results.front().rows;
  TF_RETURN_IF_ERROR(RequireResult(instruction, rows));
  const xla::WindowDimension& window = instruction.proto->window().dimensions(rows->dimension);
  const bool one = window.size() == 1 && window.stride() <= 1 && window.padding_low() == 0 &&
                   window.padding_high() == 0 && window.base_dilation() <= 1;
  return Require(one, instruction, "operates across the rows");
}

absl::Status Concatenate(const Instruction& instruction) {
  const RowArray& result = instruction.results.front();
  const bool other = result.rows && instruction.proto->dimensions(0) != result.rows->dimension;
  TF_RETURN_IF_ERROR(Require(other, instruction, "adds rows"));
  return Elementwise(instruction);
}

absl::Status Slice(const Instruction& instruction) {
  const RowArray& operand = instruction.operands.front();
  for (int64_t i = 0; i < operand.shape->dimensions_size(); ++i) {
    const auto& range = instruction.proto->slice_dimensions(i);
    const auto& padded = instruction.padded_proto->slice_dimensions(i);
    const bool all = range.start() == 0 && padded.start() == 0 && range.stride() == 1 && padded.stride() == 1 &&
                     range.limit() == operand.size(i) && padded.limit() == operand.padded_size(i);
    const bool same =
        range.start() == padded.start() && range.limit() == padded.limit() && range.stride() == padded.stride();
    const bool is_rows = operand.rows->dimension == i;
    TF_RETURN_IF_ERROR(Require(
        is_rows ? all : same, instruction,
        is_rows ? "selects only some of the rows" : "slices another dimension depending on the number of rows"));
  }
  return RequireResult(instruction, operand.rows);
}

absl::Status Pad(const Instruction& instruction) {
  const Rows& rows = instruction.operands.front().rows;
  TF_RETURN_IF_ERROR(Require(OnlyFirstHasRows(instruction), instruction, "adds rows"));
  const auto& padding = instruction.proto->padding_config().dimensions(rows->dimension);
  const bool none =
      padding.edge_padding_low() == 0 && padding.edge_padding_high() == 0 && padding.interior_padding() == 0;
  TF_RETURN_IF_ERROR(Require(none, instruction, "adds rows"));
  return RequireResult(instruction, rows);
}

// Whether a slice of these sizes contains all rows, and its other sizes are equal in both lowerings.
template <typename Sizes>
bool CoversAllRows(const RowArray& operand, const Sizes& sizes, const Sizes& padded_sizes) {
  for (int64_t i = 0; i < sizes.size(); ++i) {
    const bool is_rows = operand.rows->dimension == i;
    if (is_rows ? sizes[i] != operand.size(i) || padded_sizes[i] != operand.padded_size(i)
                : sizes[i] != padded_sizes[i]) {
      return false;
    }
  }
  return true;
}

absl::Status DynamicSlice(const Instruction& instruction) {
  const RowArray& operand = instruction.operands.front();
  TF_RETURN_IF_ERROR(Require(OnlyFirstHasRows(instruction), instruction, "has start indices that depend on the rows"));
  const bool all =
      CoversAllRows(operand, instruction.proto->dynamic_slice_sizes(), instruction.padded_proto->dynamic_slice_sizes());
  TF_RETURN_IF_ERROR(Require(all, instruction, "selects only some of the rows"));
  return RequireResult(instruction, operand.rows);
}

// The update must have all rows: XLA then clamps the update's start index to row 0.
absl::Status DynamicUpdateSlice(const Instruction& instruction) {
  const RowArray& operand = instruction.operands[0];
  const RowArray& update = instruction.operands[1];
  TF_RETURN_IF_ERROR(
      Require(operand.rows && operand.rows == update.rows, instruction, "updates only some of the rows"));
  return RequireResult(instruction, operand.rows);
}

// The indices have the rows: each row's indices select that row's slices.
absl::Status GatherByRows(const Instruction& instruction) {
  const xla::GatherDimensionNumbers& numbers = instruction.proto->gather_dimension_numbers();
  const RowArray& indices = instruction.operands[1];
  const int64_t rank = instruction.results.front().shape->dimensions_size();
  TF_RETURN_IF_ERROR(Require(indices.rows->dimension != numbers.index_vector_dim(), instruction,
                             "uses the row dimension as the index vector"));
  int64_t left = indices.rows->dimension - (indices.rows->dimension > numbers.index_vector_dim() ? 1 : 0);
  int64_t dimension = 0;  // the result's `left`th dimension that is not an offset
  for (; dimension < rank; ++dimension) {
    if (PositionIn(numbers.offset_dims(), dimension) < 0 && left-- == 0) break;
  }
  const bool same =
      absl::c_equal(instruction.proto->gather_slice_sizes(), instruction.padded_proto->gather_slice_sizes());
  TF_RETURN_IF_ERROR(Require(same, instruction, "has slice sizes that depend on the number of rows"));
  return RequireResult(instruction, MovedTo(indices.rows, dimension));
}

// The operand has the rows: each slice must contain all rows.
absl::Status GatherOfRows(const Instruction& instruction) {
  const xla::GatherDimensionNumbers& numbers = instruction.proto->gather_dimension_numbers();
  const RowArray& operand = instruction.operands[0];
  const bool all =
      CoversAllRows(operand, instruction.proto->gather_slice_sizes(), instruction.padded_proto->gather_slice_sizes()) &&
      PositionIn(numbers.collapsed_slice_dims(), operand.rows->dimension) < 0;
  TF_RETURN_IF_ERROR(Require(all, instruction, "selects among the rows"));
  const int64_t earlier =
      absl::c_count_if(numbers.collapsed_slice_dims(), [&](int64_t other) { return other < operand.rows->dimension; });
  return RequireResult(instruction, MovedTo(operand.rows, numbers.offset_dims(operand.rows->dimension - earlier)));
}

absl::Status Gather(const Instruction& instruction) {
  if (HasRows(instruction, 0) && HasRows(instruction, 1)) return Refuse(instruction, "selects among the rows");
  return HasRows(instruction, 1) ? GatherByRows(instruction) : GatherOfRows(instruction);
}

absl::Status AlongOther(const Instruction& instruction) {
  for (const RowArray& operand : instruction.operands) {
    TF_RETURN_IF_ERROR(
        Require(operand.rows && operand.rows == instruction.operands[0].rows, instruction, "combines rows"));
  }
  const Rows& rows = instruction.operands[0].rows;
  TF_RETURN_IF_ERROR(Require(PositionIn(instruction.proto->dimensions(), rows->dimension) < 0, instruction,
                             "operates across the rows"));
  return RequireResult(instruction, rows);
}

absl::Status SetDimensionSize(const Instruction& instruction) {
  const Rows& rows = instruction.operands.front().rows;
  const bool other = OnlyFirstHasRows(instruction) && instruction.proto->dimensions(0) != rows->dimension;
  TF_RETURN_IF_ERROR(Require(other, instruction, "changes the number of rows"));
  return RequireResult(instruction, rows);
}

absl::Status BatchNormInference(const Instruction& instruction) {
  const Rows& rows = instruction.operands[0].rows;
  const bool apart = OnlyFirstHasRows(instruction) && rows->dimension != instruction.proto->feature_index();
  TF_RETURN_IF_ERROR(Require(apart, instruction, "uses the row dimension as the feature dimension"));
  return RequireResult(instruction, rows);
}

// Normalises over all dimensions except the feature dimension. So the feature dimension must hold the rows, as in
// Keras's layer normalisation.
absl::Status BatchNormTraining(const Instruction& instruction) {
  const Rows& rows = instruction.operands[0].rows;
  const bool features = rows && rows->dimension == instruction.proto->feature_index();
  TF_RETURN_IF_ERROR(Require(features, instruction, "normalises over the rows"));
  for (size_t i = 0; i < 3; ++i) {
    const Rows expected = i == 0 ? rows : MovedTo(rows, 0);
    const bool same = instruction.operands[i].rows == expected && instruction.results[i].rows == expected;
    TF_RETURN_IF_ERROR(Require(same, instruction, "moves the rows in an unsupported way"));
  }
  return absl::OkStatus();
}

absl::Status Iota(const Instruction& instruction) {
  const bool other = instruction.proto->dimensions(0) != instruction.results.front().rows->dimension;
  return Require(other, instruction, "numbers the rows");
}

absl::Status Constant(const Instruction& instruction) { return Refuse(instruction, "depends on the number of rows"); }

using RowRule = absl::Status (*)(const Instruction&);

RowRule FindRule(absl::string_view opcode) {
  static const auto* rules = new absl::flat_hash_map<std::string, RowRule>{
      {"broadcast", Broadcast},
      {"reshape", Reshape},
      {"transpose", Transpose},
      {"dot", Dot},
      {"convolution", Convolution},
      {"reduce", Reduce},
      {"reduce-window", Window},
      {"select-and-scatter", Window},
      {"concatenate", Concatenate},
      {"slice", Slice},
      {"pad", Pad},
      {"dynamic-slice", DynamicSlice},
      {"dynamic-update-slice", DynamicUpdateSlice},
      {"gather", Gather},
      {"sort", AlongOther},
      {"reverse", AlongOther},
      {"set-dimension-size", SetDimensionSize},
      {"batch-norm-inference", BatchNormInference},
      {"batch-norm-training", BatchNormTraining},
      {"iota", Iota},
      {"constant", Constant},
  };
  const auto it = rules->find(opcode);
  if (it != rules->end()) return it->second;
  const xla::StatusOr<xla::HloOpcode> known = xla::StringToHloOpcode(opcode);
  // Includes stochastic-convert, which CheckPure refuses.
  return known.ok() && xla::HloInstruction::IsOpElementwise(*known) ? Elementwise : nullptr;
}

}  // namespace

absl::Status CheckRowRule(const RowInstruction& instruction) {
  const RowRule rule = FindRule(instruction.proto->opcode());
  if (rule == nullptr) return Refuse(instruction, "is not known to keep rows apart");
  const auto has_rows = [](const RowArray& operand) { return operand.rows.has_value(); };
  if (!instruction.operands.empty() && absl::c_none_of(instruction.operands, has_rows) && rule != Broadcast) {
    return Refuse(instruction, "creates rows from operands without rows");
  }
  return rule(instruction);
}

absl::Status CheckPure(const xla::HloInstructionProto& proto) {
  static const auto* effects = new absl::flat_hash_set<std::string>{
      "infeed",     "outfeed",    "send",       "send-done",          "recv",          "recv-done",
      "all-reduce", "all-gather", "all-to-all", "collective-permute", "reduce-scatter"};
  const std::string& opcode = proto.opcode();
  if (absl::StartsWith(opcode, "rng") || opcode == "stochastic-convert") {
    return absl::FailedPreconditionError(absl::StrCat(opcode, " draws random numbers"));
  }
  if (effects->contains(opcode) || proto.custom_call_has_side_effect()) {
    return absl::FailedPreconditionError(absl::StrCat(opcode, " has side effects"));
  }
  return absl::OkStatus();
}

bool IsStructural(absl::string_view opcode) {
  static const auto* structural = new absl::flat_hash_set<std::string>{
      "parameter", "tuple", "get-tuple-element", "opt-barrier", "call", "while", "conditional"};
  return structural->contains(opcode);
}

}  // namespace hpu
