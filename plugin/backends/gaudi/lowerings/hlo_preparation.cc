#include "plugin/backends/gaudi/lowerings/hlo_preparation.h"

#include <utility>

#include "plugin/backends/gaudi/lowerings/composites.h"
#include "plugin/backends/gaudi/lowerings/conditional_selection.h"
#include "plugin/backends/gaudi/lowerings/loop_rotation.h"
#include "plugin/backends/gaudi/lowerings/loop_unrolling.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/xla_compat.h"
#include "xla/debug_options_flags.h"
#include "xla/hlo/pass/hlo_pass_interface.h"
#include "xla/hlo/transforms/expanders/comparison_expander.h"
#include "xla/hlo/transforms/expanders/dot_decomposer.h"
#include "xla/hlo/transforms/expanders/optimization_barrier_expander.h"
#include "xla/hlo/transforms/expanders/rng_bit_generator_expander.h"
#include "xla/hlo/transforms/expanders/rng_expander.h"
#include "xla/hlo/transforms/expanders/stochastic_convert_decomposer.h"
#include "xla/hlo/transforms/simplifiers/algebraic_simplifier.h"
#include "xla/hlo/transforms/simplifiers/dynamic_dimension_simplifier.h"
#include "xla/hlo/transforms/simplifiers/flatten_call_graph.h"
#include "xla/hlo/transforms/simplifiers/hlo_constant_folding.h"
#include "xla/hlo/transforms/simplifiers/hlo_dce.h"
#include "xla/hlo/transforms/simplifiers/tuple_simplifier.h"
#include "xla/hlo/transforms/simplifiers/zero_sized_hlo_elimination.h"
#include "xla/service/call_inliner.h"
#include "xla/service/conditional_simplifier.h"
#include "xla/service/dynamic_padder.h"
#include "xla/service/hlo_cse.h"
#include "xla/service/hlo_verifier.h"
#include "xla/service/map_inliner.h"
#include "xla/service/topk_rewriter.h"
#include "xla/service/while_loop_constant_sinking.h"
#include "xla/service/while_loop_simplifier.h"

namespace hpu::gaudi {
namespace {

// Maximum number of instructions in the iterations of an unrolled loop.
constexpr int64_t kMaxUnrolledInstructions = 20000;

xla::AlgebraicSimplifierOptions SimplifierOptions() {
  xla::AlgebraicSimplifierOptions options;
  options.set_is_layout_sensitive(false);
  // The lowering recognises convolutions and their gradients in the form that tf2xla emits.
  options.set_enable_conv_simplification(false);
  options.set_enable_conv_operand_swap(false);
  options.set_enable_window_reduce_to_reduce_replacement(false);
  // Products stay products: the matrix engine computes them.
  options.set_enable_dot_strength_reduction(false);
  options.set_minmax_propagate_nan(true);
  return options;
}

absl::Status Run(xla::HloModule* module, xla::HloPassInterface&& pass) { return pass.Run(module).status(); }

}  // namespace

absl::StatusOr<std::unique_ptr<xla::HloModule>> PrepareModule(const xla::HloModuleProto& proto,
                                                              const PlanTarget& target) {
  HPU_ASSIGN_OR_RETURN(const xla::ProgramShape program_shape,
                       compat::ProgramShapeFromProto(proto.host_program_shape()));
  xla::HloModuleConfig config(program_shape, /*ignore_layouts=*/true);
  config.set_debug_options(xla::GetDebugOptionsFromFlags());
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<xla::HloModule> owned, xla::HloModule::CreateFromProto(proto, config));
  xla::HloModule* module = owned.get();
  // XLA assumes consistent shapes, but a program from another process may be invalid.
  const auto verify = [&] { return Run(module, xla::HloVerifier(false, /*allow_mixed_precision=*/true)); };
  HPU_RETURN_IF_ERROR(verify());
  HPU_RETURN_IF_ERROR(ReplaceComposites(module, target));
  // TensorFlow uses Philox if an op names no generator. The expansions are calls, which CallInliner inlines.
  HPU_RETURN_IF_ERROR(Run(module, xla::RngBitGeneratorExpander(xla::RNG_PHILOX)));
  HPU_RETURN_IF_ERROR(Run(module, xla::RngExpander()));
  HPU_RETURN_IF_ERROR(Run(module, xla::CallInliner()));
  HPU_RETURN_IF_ERROR(Run(module, xla::MapInliner()));
  HPU_RETURN_IF_ERROR(Run(module, xla::FlattenCallGraph()));
  HPU_RETURN_IF_ERROR(Run(module, xla::DynamicDimensionSimplifier()));
  HPU_RETURN_IF_ERROR(Run(module, xla::DynamicPadder()));
  HPU_RETURN_IF_ERROR(Run(module, xla::ConditionalSimplifier()));
  HPU_RETURN_IF_ERROR(Run(module, xla::WhileLoopSimplifier()));
  HPU_RETURN_IF_ERROR(UnrollLoops(module, kMaxUnrolledInstructions));
  HPU_RETURN_IF_ERROR(SelectBranches(module));
  HPU_RETURN_IF_ERROR(LoopOverBranches(module));
  // For loops that were not unrolled.
  HPU_RETURN_IF_ERROR(Run(module, xla::WhileLoopConstantSinking()));
  HPU_RETURN_IF_ERROR(Run(module, xla::WhileLoopSimplifier()));
  HPU_RETURN_IF_ERROR(RotateLoops(module));
  HPU_RETURN_IF_ERROR(Run(module, xla::ZeroSizedHloElimination()));
  HPU_RETURN_IF_ERROR(Run(module, xla::TupleSimplifier()));
  HPU_RETURN_IF_ERROR(Run(module, xla::TopkDecomposer()));
  HPU_RETURN_IF_ERROR(Run(module, xla::DotDecomposer()));
  HPU_RETURN_IF_ERROR(Run(module, xla::ComparisonExpander()));
  HPU_RETURN_IF_ERROR(Run(module, xla::StochasticConvertDecomposer()));
  HPU_RETURN_IF_ERROR(Run(module, xla::OptimizationBarrierExpander()));
  HPU_RETURN_IF_ERROR(Run(module, xla::HloConstantFolding()));
  HPU_RETURN_IF_ERROR(Run(module, xla::AlgebraicSimplifier(SimplifierOptions())));
  HPU_RETURN_IF_ERROR(Run(module, xla::MapInliner()));  // of reductions of concatenations
  HPU_RETURN_IF_ERROR(Run(module, xla::TupleSimplifier()));
  HPU_RETURN_IF_ERROR(Run(module, xla::HloCSE(/*is_layout_sensitive=*/false)));
  HPU_RETURN_IF_ERROR(Run(module, xla::HloDCE()));
  HPU_RETURN_IF_ERROR(verify());
  return owned;
}

}  // namespace hpu::gaudi
