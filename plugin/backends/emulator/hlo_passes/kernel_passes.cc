#include "plugin/backends/emulator/hlo_passes/kernel_passes.h"

#include <utility>

#include "plugin/backends/emulator/hlo_passes/batch_norm_pass.h"
#include "plugin/backends/emulator/hlo_passes/batched_product_pass.h"
#include "plugin/backends/emulator/hlo_passes/complex_parts_pass.h"
#include "plugin/backends/emulator/hlo_passes/concatenation_pass.h"
#include "plugin/backends/emulator/hlo_passes/convolution_pass.h"
#include "plugin/backends/emulator/hlo_passes/cumulative_pass.h"
#include "plugin/backends/emulator/hlo_passes/element_choice_pass.h"
#include "plugin/backends/emulator/hlo_passes/elementary_function_pass.h"
#include "plugin/backends/emulator/hlo_passes/extremum_pass.h"
#include "plugin/backends/emulator/hlo_passes/fourier_pass.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "plugin/backends/emulator/hlo_passes/linear_algebra_pass.h"
#include "plugin/backends/emulator/hlo_passes/materialized_values.h"
#include "plugin/backends/emulator/hlo_passes/matmul_pass.h"
#include "plugin/backends/emulator/hlo_passes/pooling_pass.h"
#include "plugin/backends/emulator/hlo_passes/reduction_pass.h"
#include "plugin/backends/emulator/hlo_passes/row_window_pass.h"
#include "plugin/backends/emulator/hlo_passes/sort_pass.h"
#include "plugin/backends/emulator/hlo_passes/sorted_search_pass.h"
#include "plugin/backends/emulator/hlo_passes/sparse_product_pass.h"
#include "plugin/backends/emulator/hlo_passes/transposition_pass.h"
#include "plugin/backends/emulator/hlo_passes/user_kernel_pass.h"
#include "plugin/backends/emulator/hlo_passes/widening_pass.h"
#include "plugin/backends/emulator/kernels/compiler_target.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/transforms/simplifiers/hlo_dce.h"

namespace hpu::emulator {
namespace {

absl::Status UseProductKernels(xla::HloModule* module, KernelCalls* calls) {
  if (IsTargetGeneric()) return absl::OkStatus();
  HPU_RETURN_IF_ERROR(UseConvolutionKernels(module, calls));
  return UseMatMulKernels(module, calls);
}

}  // namespace

absl::StatusOr<std::vector<KernelSpec>> UseKernels(xla::HloModule* module, bool replace, KernelChoice choice) {
  KernelCalls calls(std::move(choice));
  HPU_RETURN_IF_ERROR(xla::HloDCE().Run(module).status());
  HPU_RETURN_IF_ERROR(UseUserKernels(module, &calls));
  if (!replace) return calls.TakeSpecs();
  // These TensorFlow kernels select their code by the processor, so results could differ between processors.
  if (!IsTargetGeneric()) {
    HPU_RETURN_IF_ERROR(UseLinearAlgebraKernels(module, &calls));
    HPU_RETURN_IF_ERROR(UseFourierKernels(module, &calls));
  }
  HPU_RETURN_IF_ERROR(UseSparseProductKernels(module, &calls));
  // The first call also replaces bfloat16 products if the processor has bfloat16 instructions. The second call replaces
  // the other bfloat16 products, which WidenSums computes in float32.
  HPU_RETURN_IF_ERROR(UseProductKernels(module, &calls));
  HPU_RETURN_IF_ERROR(WidenSums(module));
  HPU_RETURN_IF_ERROR(UseProductKernels(module, &calls));
  HPU_RETURN_IF_ERROR(UseBatchedProductKernels(module, &calls));
  HPU_RETURN_IF_ERROR(UseElementaryFunctionKernels(module, &calls));
  HPU_RETURN_IF_ERROR(ComputeComplexParts(module));
  HPU_RETURN_IF_ERROR(ReadChosenElements(module));
  HPU_RETURN_IF_ERROR(UseBatchNormKernels(module, &calls));
  HPU_RETURN_IF_ERROR(UseConcatenationKernels(module, &calls));
  HPU_RETURN_IF_ERROR(UseCumulativeKernels(module, &calls));
  HPU_RETURN_IF_ERROR(UseSortKernels(module, &calls));
  HPU_RETURN_IF_ERROR(UseSortedSearchKernels(module, &calls));
  HPU_RETURN_IF_ERROR(UseRowWindowKernels(module, &calls));
  HPU_RETURN_IF_ERROR(UsePoolingKernels(module, &calls));
  HPU_RETURN_IF_ERROR(UseReductionKernels(module, &calls));
  HPU_RETURN_IF_ERROR(UseExtremumKernels(module, &calls));
  HPU_RETURN_IF_ERROR(KeepValues(module));
  HPU_RETURN_IF_ERROR(UseTranspositionKernels(module, &calls));
  return calls.TakeSpecs();
}

}  // namespace hpu::emulator
