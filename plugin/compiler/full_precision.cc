#include "plugin/compiler/full_precision.h"

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "plugin/base/flags/flags.h"
#include "plugin/program/hlo_ids.h"
#include "tsl/platform/tensor_float_32_utils.h"
#include "xla/xla_data.pb.h"

namespace hpu {

FullPrecision FullPrecision::FromSettings() {
  FullPrecision request;
  const bool all = !tsl::tensor_float_32_execution_enabled() || flags::NvidiaTf32Override() == 0;
  request.matrix_products = all || flags::TfDisableCublasTensorOpMath();
  request.convolutions = all || flags::TfDisableCudnnTensorOpMath();
  return request;
}

void RequestFullPrecision(const FullPrecision& request, xla::HloModuleProto* program) {
  if (!request.matrix_products && !request.convolutions) return;
  for (xla::HloComputationProto& computation : *program->mutable_computations()) {
    absl::flat_hash_set<int64_t> floats;
    for (const xla::HloInstructionProto& instruction : computation.instructions()) {
      if (instruction.shape().element_type() == xla::F32) floats.insert(LocalId(instruction.id()));
    }
    for (xla::HloInstructionProto& instruction : *computation.mutable_instructions()) {
      const bool is_requested = (instruction.opcode() == "dot" && request.matrix_products) ||
                                (instruction.opcode() == "convolution" && request.convolutions);
      if (!is_requested) continue;
      bool has_float = false;
      for (const int64_t operand : instruction.operand_ids()) has_float |= floats.contains(LocalId(operand));
      if (!has_float) continue;
      xla::PrecisionConfig* precision = instruction.mutable_precision_config();
      precision->clear_operand_precision();
      for (int i = 0; i < instruction.operand_ids_size(); ++i) {
        precision->add_operand_precision(xla::PrecisionConfig::HIGHEST);
      }
    }
  }
}

}  // namespace hpu
