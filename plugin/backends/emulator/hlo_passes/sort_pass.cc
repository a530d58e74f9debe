#include "plugin/backends/emulator/hlo_passes/sort_pass.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "plugin/backends/common/hlo/sort.h"
#include "plugin/backends/emulator/kernels/sort.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/transforms/simplifiers/hlo_dce.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Below this size, XLA's code is as fast as a kernel call.
constexpr int64_t kMinSortElements = 16;

std::optional<Sort::Type> KeyTypeOf(const xla::Shape& shape) {
  switch (shape.element_type()) {
    case xla::F32:
    case xla::F16:
    case xla::BF16:
      return Sort::kFloat;
    case xla::S8:
    case xla::S16:
    case xla::S32:
      return Sort::kSigned;
    case xla::PRED:
    case xla::U8:
    case xla::U16:
    case xla::U32:
      return Sort::kUnsigned;
    default:
      return std::nullopt;
  }
}

bool HasPlainElements(const HloInstruction* operand) {
  const int64_t bytes = xla::ShapeUtil::ByteSizeOfPrimitiveType(operand->shape().element_type());
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

// Sets the sizes outside, inside and along the sorted dimension.
void SetSizes(const xla::Shape& shape, int64_t dimension, Sort* sort) {
  for (int64_t i = 0; i < shape.dimensions_size(); ++i) {
    (i < dimension ? sort->outer : i > dimension ? sort->inner : sort->size) *= shape.dimensions(i);
  }
}

// Whether the kernel supports the sort's types and sizes, and is faster than XLA's code.
bool IsReplaceable(const HloInstruction* sort) {
  const xla::Shape& shape = sort->operand(0)->shape();
  return KeyTypeOf(shape).has_value() && absl::c_all_of(sort->operands(), HasPlainElements) &&
         absl::c_all_of(sort->operands(), [](const HloInstruction* operand) { return operand->shape().is_static(); }) &&
         xla::ShapeUtil::ElementsIn(shape) >= kMinSortElements && shape.dimensions(sort->dimensions(0)) > 1 &&
         shape.dimensions(sort->dimensions(0)) <= std::numeric_limits<int32_t>::max();
}

// Replaces one of the sort's results, or slices of its first elements, by `value`.
absl::Status ReplaceResults(const std::vector<HloInstruction*>& results, HloInstruction* value) {
  for (HloInstruction* result : results) {
    if (xla::ShapeUtil::Compatible(result->shape(), value->shape())) {
      HPU_RETURN_IF_ERROR(result->parent()->ReplaceInstruction(result, value));
      continue;
    }
    const std::vector<HloInstruction*> slices(result->users().begin(), result->users().end());
    for (HloInstruction* slice : slices) HPU_RETURN_IF_ERROR(slice->parent()->ReplaceInstruction(slice, value));
  }
  return absl::OkStatus();
}

absl::Status Replace(HloInstruction* sort, const hlo::Sort& found, KernelCalls* calls) {
  const hlo::SortKeys keys = hlo::SortKeysOf(sort, /*may_transpose=*/found.payloads() == 0);
  const xla::Shape& shape = keys.operand->shape();
  Sort kernel;
  kernel.type = *KeyTypeOf(shape);
  kernel.key_bytes = xla::ShapeUtil::ByteSizeOfPrimitiveType(shape.element_type());
  kernel.descending = found.descending != keys.negated;
  SetSizes(shape, keys.dimension, &kernel);
  kernel.count = found.count;

  std::vector<HloInstruction*> operands{keys.operand};
  std::vector<xla::Shape> shapes;
  for (size_t i = 0; i < found.operands.size(); ++i) {
    if (found.operands[i].results.empty()) continue;
    const xla::PrimitiveType type = sort->operand(i)->shape().element_type();
    shapes.push_back(xla::ShapeUtil::ChangeElementType(shape, type));
    shapes.back().set_dimensions(keys.dimension, kernel.count);
    if (i == 0) {
      kernel.results.push_back(Sort::kKeys);
    } else if (found.operands[i].is_position) {
      kernel.results.push_back(Sort::kIndices);
    } else {
      kernel.results.push_back(xla::ShapeUtil::ByteSizeOfPrimitiveType(type));
      operands.push_back(sort->mutable_operand(i));
    }
  }
  HPU_ASSIGN_OR_RETURN(
      HloInstruction * call,
      calls->Add(kernel.Spec(), operands, shapes.size() == 1 ? shapes[0] : xla::ShapeUtil::MakeTupleShape(shapes)));
  call->set_metadata(sort->metadata());
  xla::HloComputation* const computation = sort->parent();
  int64_t number = 0;
  for (size_t i = 0; i < found.operands.size(); ++i) {
    if (found.operands[i].results.empty()) continue;
    HloInstruction* value = call;
    if (shapes.size() > 1) {
      value = computation->AddInstruction(HloInstruction::CreateGetTupleElement(shapes[number], call, number));
    }
    ++number;
    if (i == 0 && keys.negated) {
      value = computation->AddInstruction(HloInstruction::CreateUnary(value->shape(), HloOpcode::kNegate, value));
    }
    if (!keys.order.empty()) {
      xla::Shape turned = value->shape();
      for (size_t d = 0; d < keys.order.size(); ++d) turned.set_dimensions(d, value->shape().dimensions(keys.order[d]));
      value = computation->AddInstruction(HloInstruction::CreateTranspose(turned, value, keys.order));
    }
    HPU_RETURN_IF_ERROR(ReplaceResults(found.operands[i].results, value));
  }
  return absl::OkStatus();
}

// Forwards tuple elements, because tf2xla passes results through tuples and a program may use only some elements.
absl::Status ForwardElements(xla::HloComputation* computation) {
  for (HloInstruction* element : computation->MakeInstructionPostOrder()) {
    if (element->opcode() != HloOpcode::kGetTupleElement || element->operand(0)->opcode() != HloOpcode::kTuple)
      continue;
    HloInstruction* const tuple = element->mutable_operand(0);
    HPU_RETURN_IF_ERROR(computation->ReplaceInstruction(element, tuple->mutable_operand(element->tuple_index())));
  }
  return absl::OkStatus();
}

bool HasSort(const xla::HloComputation* computation) {
  return absl::c_any_of(computation->instructions(),
                        [](const HloInstruction* i) { return i->opcode() == HloOpcode::kSort; });
}

}  // namespace

absl::Status UseSortKernels(xla::HloModule* module, KernelCalls* calls) {
  bool found = false;
  for (xla::HloComputation* computation : module->MakeNonfusionComputations()) {
    if (!HasSort(computation)) continue;
    found = true;
    HPU_RETURN_IF_ERROR(ForwardElements(computation));
  }
  if (!found) return absl::OkStatus();
  HPU_RETURN_IF_ERROR(xla::HloDCE().Run(module).status());
  for (xla::HloComputation* computation : module->MakeNonfusionComputations()) {
    for (HloInstruction* sort : computation->MakeInstructionPostOrder()) {
      if (sort->opcode() != HloOpcode::kSort || !IsReplaceable(sort)) continue;
      const std::optional<hlo::Sort> found = hlo::DescribeSort(sort);
      if (!found.has_value() || !found->total_order) continue;
      HPU_RETURN_IF_ERROR(Replace(sort, *found, calls));
    }
  }
  return absl::OkStatus();
}

}  // namespace hpu::emulator
