#include "plugin/backends/emulator/hlo_passes/batch_norm_pass.h"

#include <cstdint>

#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/emulator/kernels/batch_norm.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/literal_util.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Builder of the elementwise instructions around the kernels, for arrays of the shape of `x` and for vectors with one
// element per feature.
class Builder {
 public:
  explicit Builder(HloInstruction* x)
      : computation_(x->parent()),
        wide_(xla::ShapeUtil::MakeShape(xla::F32, x->shape().dimensions())),
        narrow_(xla::ShapeUtil::MakeShape(xla::F32, {x->shape().dimensions().back()})) {}

  HloInstruction* Binary(HloOpcode opcode, HloInstruction* a, HloInstruction* b) {
    return computation_->AddInstruction(HloInstruction::CreateBinary(a->shape(), opcode, a, b));
  }
  HloInstruction* Times(HloInstruction* a, HloInstruction* b) { return Binary(HloOpcode::kMultiply, a, b); }
  HloInstruction* Minus(HloInstruction* a, HloInstruction* b) { return Binary(HloOpcode::kSubtract, a, b); }
  HloInstruction* Plus(HloInstruction* a, HloInstruction* b) { return Binary(HloOpcode::kAdd, a, b); }
  // A vector with `value` for each feature.
  HloInstruction* Number(float value) {
    HloInstruction* number =
        computation_->AddInstruction(HloInstruction::CreateConstant(xla::LiteralUtil::CreateR0<float>(value)));
    return computation_->AddInstruction(HloInstruction::CreateBroadcast(narrow_, number, {}));
  }
  // Broadcasts `narrow` to every row.
  HloInstruction* Wide(HloInstruction* narrow) {
    return computation_->AddInstruction(
        HloInstruction::CreateBroadcast(wide_, narrow, {static_cast<int64_t>(wide_.dimensions_size() - 1)}));
  }
  HloInstruction* InverseDeviation(HloInstruction* variance, float epsilon) {
    return computation_->AddInstruction(
        HloInstruction::CreateUnary(narrow_, HloOpcode::kRsqrt, Plus(variance, Number(epsilon))));
  }
  HloInstruction* Element(HloInstruction* tuple, int64_t index) {
    return computation_->AddInstruction(HloInstruction::CreateGetTupleElement(tuple, index));
  }
  HloInstruction* Tuple(absl::Span<HloInstruction* const> elements) {
    return computation_->AddInstruction(HloInstruction::CreateTuple(elements));
  }
  // Shape of a tuple of two vectors with one element per feature.
  xla::Shape pair() const { return xla::ShapeUtil::MakeTupleShape({narrow_, narrow_}); }

 private:
  xla::HloComputation* const computation_;
  const xla::Shape wide_;
  const xla::Shape narrow_;
};

bool CanReplaceNorm(const HloInstruction* norm) {
  const xla::Shape& x = norm->operand(0)->shape();
  if (norm->feature_index() != x.dimensions_size() - 1) return false;
  for (const HloInstruction* operand : norm->operands()) {
    if (!hlo::IsFloat32Array(operand->shape())) return false;
  }
  return true;
}

int64_t FeaturesOf(const HloInstruction* x) { return x->shape().dimensions().back(); }
int64_t RowsOf(const HloInstruction* x) { return xla::ShapeUtil::ElementsIn(x->shape()) / FeaturesOf(x); }

// (x, scale, offset) to (y, mean, variance)
absl::StatusOr<HloInstruction*> Training(HloInstruction* norm, KernelCalls* calls) {
  if (!CanReplaceNorm(norm)) return nullptr;
  HloInstruction *x = norm->mutable_operand(0), *scale = norm->mutable_operand(1), *offset = norm->mutable_operand(2);
  Builder b(x);
  HPU_ASSIGN_OR_RETURN(HloInstruction * moments,
                       calls->Add(BatchMoments{RowsOf(x), FeaturesOf(x), hlo::IsWidened(x)}.Spec(),
                                  {hlo::IsWidened(x) ? x->mutable_operand(0) : x}, b.pair()));
  HloInstruction *mean = b.Element(moments, 0), *variance = b.Element(moments, 1);
  HloInstruction* factor = b.Times(scale, b.InverseDeviation(variance, norm->epsilon()));
  HloInstruction* y = b.Plus(b.Times(b.Minus(x, b.Wide(mean)), b.Wide(factor)), b.Wide(offset));
  return b.Tuple({y, mean, variance});
}

// (x, scale, mean, variance, gradient of y) to the gradients of (x, scale, offset)
absl::StatusOr<HloInstruction*> Gradient(HloInstruction* norm, KernelCalls* calls) {
  if (!CanReplaceNorm(norm)) return nullptr;
  HloInstruction *x = norm->mutable_operand(0), *scale = norm->mutable_operand(1), *mean = norm->mutable_operand(2);
  HloInstruction *variance = norm->mutable_operand(3), *dy = norm->mutable_operand(4);
  Builder b(x);
  const BatchGradientSums kernel{RowsOf(x), FeaturesOf(x), hlo::IsWidened(x) && hlo::IsWidened(dy)};
  const auto stored = [&](HloInstruction* value) { return kernel.bfloat16 ? value->mutable_operand(0) : value; };
  HPU_ASSIGN_OR_RETURN(HloInstruction * sums, calls->Add(kernel.Spec(), {stored(x), mean, stored(dy)}, b.pair()));
  HloInstruction *sum = b.Element(sums, 0), *product = b.Element(sums, 1);
  HloInstruction* inverse = b.InverseDeviation(variance, norm->epsilon());
  HloInstruction* one_of_rows = b.Number(1.0f / static_cast<float>(RowsOf(x)));
  // scale * inverse * (dy - sum / rows - (x - mean) * inverse² * product / rows)
  HloInstruction* slope = b.Times(b.Times(b.Times(inverse, inverse), product), one_of_rows);
  HloInstruction* inner =
      b.Minus(b.Minus(dy, b.Wide(b.Times(sum, one_of_rows))), b.Times(b.Minus(x, b.Wide(mean)), b.Wide(slope)));
  HloInstruction* dx = b.Times(b.Wide(b.Times(scale, inverse)), inner);
  return b.Tuple({dx, b.Times(product, inverse), sum});
}

// Forwards elements of tuples, because IsInMemory returns true for every get-tuple-element.
absl::StatusOr<HloInstruction*> ElementItself(HloInstruction* element) {
  HloInstruction* tuple = element->mutable_operand(0);
  return tuple->opcode() == HloOpcode::kTuple ? tuple->mutable_operand(element->tuple_index()) : nullptr;
}

}  // namespace

absl::Status UseBatchNormKernels(xla::HloModule* module, KernelCalls* calls) {
  HPU_RETURN_IF_ERROR(ReplaceAll(module, HloOpcode::kBatchNormTraining,
                                 [calls](HloInstruction* norm) { return Training(norm, calls); }));
  HPU_RETURN_IF_ERROR(
      ReplaceAll(module, HloOpcode::kBatchNormGrad, [calls](HloInstruction* norm) { return Gradient(norm, calls); }));
  return ReplaceAll(module, HloOpcode::kGetTupleElement, ElementItself);
}

}  // namespace hpu::emulator
