// Lowerings of batch normalisation: training, inference and gradient.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"
#include "xla/shape.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Converts the images and vectors of a batch normalisation to the shapes of its nodes, and back: images {C, …} of rank
// 2 to 5, vectors {C} of float32. Dimensions other than C may be merged, because all elements of a feature are
// normalised alike.
class NormalizationForm {
 public:
  NormalizationForm(PlanBuilder& builder, const HloInstruction& instruction)
      : builder_(builder), sizes_(SizesOf(instruction.operand(0)->shape())) {
    const size_t axis = sizes_.size() - 1 - instruction.feature_index();
    for (size_t d = 0; d < sizes_.size(); ++d) (d < axis ? inner_ : d > axis ? outer_ : features_) *= sizes_[d];
    has_node_form_ = axis == 0 && sizes_.size() >= 2 && sizes_.size() <= 5;
    synapse::synTfBatchNormalizationParams params = {};
    params.variance_epsilon = instruction.epsilon();
    params_ = ParamsBytes(params);
  }

  const std::string& params() const { return params_; }
  TensorType vector_type() const { return {synapse::syn_type_float, {features_}}; }

  absl::StatusOr<TensorId> ToImage(TensorId x) {
    if (has_node_form_) return x;
    HPU_ASSIGN_OR_RETURN(x, Reshape(builder_, x, {inner_, features_, outer_}));
    if (inner_ != 1) {
      HPU_ASSIGN_OR_RETURN(x, Transpose(builder_, x, {1, 0, 2}));
    }
    return Reshape(builder_, x, {features_, inner_ * outer_});
  }

  absl::StatusOr<TensorId> FromImage(TensorId x) {
    if (has_node_form_) return x;
    HPU_ASSIGN_OR_RETURN(x, Reshape(builder_, x, {features_, inner_, outer_}));
    if (inner_ != 1) {
      HPU_ASSIGN_OR_RETURN(x, Transpose(builder_, x, {1, 0, 2}));
    }
    return Reshape(builder_, x, sizes_);
  }

  absl::StatusOr<TensorId> ToVector(TensorId x) { return Cast(builder_, x, synapse::syn_type_float); }

 private:
  PlanBuilder& builder_;
  const Sizes sizes_;
  uint64_t inner_ = 1, features_ = 1, outer_ = 1;
  bool has_node_form_ = false;
  std::string params_;
};

absl::StatusOr<TensorId> ReadImage(Lowering& lowering, NormalizationForm& form, const HloInstruction& instruction,
                                   int64_t operand) {
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Operand(instruction, operand));
  return form.ToImage(x);
}

absl::StatusOr<TensorId> ReadVector(Lowering& lowering, NormalizationForm& form, const HloInstruction& instruction,
                                    int64_t operand) {
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Operand(instruction, operand));
  return form.ToVector(x);
}

// Sets the result: an image and two vectors.
absl::Status SetImageAndVectors(Lowering& lowering, NormalizationForm& form, const HloInstruction& instruction,
                                std::vector<TensorId> values) {
  HPU_ASSIGN_OR_RETURN(values[0], form.FromImage(values[0]));
  for (size_t i = 0; i < values.size(); ++i) {
    HPU_ASSIGN_OR_RETURN(const TensorType type, TensorTypeOf(instruction.shape().tuple_shapes(static_cast<int>(i)),
                                                             lowering.builder().generation()));
    HPU_ASSIGN_OR_RETURN(values[i], Cast(lowering.builder(), values[i], type.type));
  }
  lowering.SetTuple(instruction, std::move(values));
  return absl::OkStatus();
}

// (x, scale, offset) to (y, mean, variance)
absl::Status LowerBatchNormTraining(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  NormalizationForm form(builder, instruction);
  HPU_ASSIGN_OR_RETURN(const TensorId x, ReadImage(lowering, form, instruction, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId scale, ReadVector(lowering, form, instruction, 1));
  HPU_ASSIGN_OR_RETURN(const TensorId offset, ReadVector(lowering, form, instruction, 2));
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> moments,
                       builder.AddNode("moments_fwd", {x}, {form.vector_type(), form.vector_type()}));
  HPU_ASSIGN_OR_RETURN(const TensorId y,
                       builder.Add("tf_batch_normalization_fwd", {x, moments[0], moments[1], offset, scale},
                                   builder.tensor_type(x), form.params()));
  return SetImageAndVectors(lowering, form, instruction, {y, moments[0], moments[1]});
}

// (x, scale, offset, mean, variance) to y
absl::Status LowerBatchNormInference(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  NormalizationForm form(builder, instruction);
  HPU_ASSIGN_OR_RETURN(const TensorId x, ReadImage(lowering, form, instruction, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId scale, ReadVector(lowering, form, instruction, 1));
  HPU_ASSIGN_OR_RETURN(const TensorId offset, ReadVector(lowering, form, instruction, 2));
  HPU_ASSIGN_OR_RETURN(const TensorId mean, ReadVector(lowering, form, instruction, 3));
  HPU_ASSIGN_OR_RETURN(const TensorId variance, ReadVector(lowering, form, instruction, 4));
  HPU_ASSIGN_OR_RETURN(TensorId y, builder.Add("tf_batch_normalization_fwd", {x, mean, variance, offset, scale},
                                               builder.tensor_type(x), form.params()));
  HPU_ASSIGN_OR_RETURN(y, form.FromImage(y));
  lowering.Set(instruction, y);
  return absl::OkStatus();
}

// (x, scale, mean, variance, gradient of y) to the gradients of (x, scale, offset)
absl::Status LowerBatchNormGrad(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  NormalizationForm form(builder, instruction);
  HPU_ASSIGN_OR_RETURN(const TensorId x, ReadImage(lowering, form, instruction, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId scale, ReadVector(lowering, form, instruction, 1));
  HPU_ASSIGN_OR_RETURN(const TensorId mean, ReadVector(lowering, form, instruction, 2));
  HPU_ASSIGN_OR_RETURN(const TensorId variance, ReadVector(lowering, form, instruction, 3));
  HPU_ASSIGN_OR_RETURN(const TensorId gradient, ReadImage(lowering, form, instruction, 4));
  HPU_ASSIGN_OR_RETURN(
      std::vector<TensorId> gradients,
      builder.AddNode("tf_fused_batch_norm_grad", {gradient, x, scale, mean, variance},
                      {builder.tensor_type(x), form.vector_type(), form.vector_type()}, form.params()));
  return SetImageAndVectors(lowering, form, instruction, std::move(gradients));
}

}  // namespace

void AddBatchNormalization(LowerTable* table) {
  (*table)[HloOpcode::kBatchNormTraining] = LowerBatchNormTraining;
  (*table)[HloOpcode::kBatchNormInference] = LowerBatchNormInference;
  (*table)[HloOpcode::kBatchNormGrad] = LowerBatchNormGrad;
}

}  // namespace hpu::gaudi
