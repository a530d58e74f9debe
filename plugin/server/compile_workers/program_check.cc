#include "plugin/server/compile_workers/program_check.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/determinism.h"
#include "plugin/program/marked_call.h"
#include "plugin/program/user_kernels/user_kernels.h"
#include "xla/service/hlo.pb.h"
#include "xla/xla_data.pb.h"

namespace hpu::serve {
namespace {

using NameSet = absl::flat_hash_set<absl::string_view>;

// Operations that tf2xla's and the plugin's lowerings use. Excluded: communication and asynchronous operations;
// operations that only XLA's passes insert (fusion, bitcast, add-dependency, copy-start, domain); operations that
// return the replica's or partition's id.
bool IsComputation(absl::string_view opcode) {
  static const auto* opcodes = new NameSet({"abs",
                                            "add",
                                            "after-all",
                                            "and",
                                            "atan2",
                                            "batch-norm-grad",
                                            "batch-norm-inference",
                                            "batch-norm-training",
                                            "bitcast-convert",
                                            "broadcast",
                                            "call",
                                            "cbrt",
                                            "ceil",
                                            "cholesky",
                                            "clamp",
                                            "compare",
                                            "complex",
                                            "concatenate",
                                            "conditional",
                                            "constant",
                                            "convert",
                                            "convolution",
                                            "copy",
                                            "cosine",
                                            "count-leading-zeros",
                                            "custom-call",
                                            "divide",
                                            "dot",
                                            "dynamic-slice",
                                            "dynamic-update-slice",
                                            "exponential",
                                            "exponential-minus-one",
                                            "fft",
                                            "floor",
                                            "gather",
                                            "get-dimension-size",
                                            "get-tuple-element",
                                            "imag",
                                            "iota",
                                            "is-finite",
                                            "log",
                                            "log-plus-one",
                                            "logistic",
                                            "map",
                                            "maximum",
                                            "minimum",
                                            "multiply",
                                            "negate",
                                            "not",
                                            "opt-barrier",
                                            "or",
                                            "pad",
                                            "parameter",
                                            "popcnt",
                                            "power",
                                            "real",
                                            "reduce",
                                            "reduce-precision",
                                            "reduce-window",
                                            "remainder",
                                            "reshape",
                                            "reverse",
                                            "rng",
                                            "rng-bit-generator",
                                            "round-nearest-afz",
                                            "round-nearest-even",
                                            "rsqrt",
                                            "scatter",
                                            "select",
                                            "select-and-scatter",
                                            "set-dimension-size",
                                            "shift-left",
                                            "shift-right-arithmetic",
                                            "shift-right-logical",
                                            "sign",
                                            "sine",
                                            "slice",
                                            "sort",
                                            "sqrt",
                                            "stochastic-convert",
                                            "subtract",
                                            "tan",
                                            "tanh",
                                            "transpose",
                                            "triangular-solve",
                                            "tuple",
                                            "while",
                                            "xor"});
  return opcodes->contains(opcode);
}

// The server's GC_KERNEL_PATH decides which user kernels exist; XLA replaces the other targets.
bool IsKnownTarget(absl::string_view target) {
  static const auto* targets =
      new NameSet({"Eigh", "ProductOfElementaryHouseholderReflectors", "Qr", "Sharding", kUserKernelTarget});
  return targets->contains(target);
}

// Replaces layouts by the default layout: the last dimension is minor-most. The recursion ends because protobuf limits
// the nesting of messages.
void SetDefaultLayout(xla::ShapeProto* shape) {
  for (xla::ShapeProto& element : *shape->mutable_tuple_shapes()) SetDefaultLayout(&element);
  const bool has_layout = shape->has_layout();
  shape->clear_layout();
  if (!has_layout) return;
  xla::LayoutProto* layout = shape->mutable_layout();
  for (int i = shape->dimensions_size() - 1; i >= 0; --i) layout->add_minor_to_major(i);
}

void SetDefaultLayouts(xla::ProgramShapeProto* shapes) {
  for (xla::ShapeProto& parameter : *shapes->mutable_parameters()) SetDefaultLayout(&parameter);
  SetDefaultLayout(shapes->mutable_result());
}

void SetDefaultLayouts(xla::LiteralProto* literal) {
  SetDefaultLayout(literal->mutable_shape());
  for (xla::LiteralProto& element : *literal->mutable_tuple_literals()) SetDefaultLayouts(&element);
}

// Removes frontend attributes except the kOperationAttribute of calls. Backends check the attribute's contents.
void ScreenMarks(xla::HloInstructionProto* instruction) {
  auto* attributes = instruction->mutable_frontend_attributes()->mutable_map();
  std::vector<std::string> unknown;
  for (const auto& [name, value] : *attributes) {
    if (instruction->opcode() != "call" || name != kOperationAttribute) unknown.push_back(name);
  }
  for (const std::string& name : unknown) attributes->erase(name);
  if (attributes->empty()) instruction->clear_frontend_attributes();
}

absl::Status ScreenInstruction(const std::string& program, xla::HloInstructionProto* instruction) {
  const std::string& opcode = instruction->opcode();
  const bool is_custom_call = opcode == "custom-call";
  if (!IsComputation(opcode)) {
    return absl::InvalidArgumentError(absl::StrCat("program '", program,
                                                   "': device servers do not support the operation '", opcode,
                                                   "'; run the program without a device server"));
  }
  if (is_custom_call && !IsKnownTarget(instruction->custom_call_target())) {
    return absl::InvalidArgumentError(absl::StrCat("program '", program, "' calls the function '",
                                                   instruction->custom_call_target(),
                                                   "', but device servers allow only XLA's own functions and user "
                                                   "kernels; run the program without a device server"));
  }
  // Calls of user kernels keep backend_config, because it names the kernel.
  if (!is_custom_call || instruction->custom_call_target() != kUserKernelTarget) instruction->clear_backend_config();
  ScreenMarks(instruction);
  instruction->clear_sharding();
  instruction->clear_constrain_layout();
  instruction->clear_operand_shapes_with_layout();
  instruction->clear_output_operand_aliasing();
  instruction->clear_custom_call_schedule();
  SetDefaultLayout(instruction->mutable_shape());
  if (instruction->has_literal()) SetDefaultLayouts(instruction->mutable_literal());
  return absl::OkStatus();
}

// The part of a module that describes the computation, with its mark of determinism.
xla::HloModuleProto ComputationOf(xla::HloModuleProto* module) {
  xla::HloModuleProto left;
  left.set_name(module->name());
  left.set_id(module->id());
  left.set_entry_computation_name(module->entry_computation_name());
  left.set_entry_computation_id(module->entry_computation_id());
  left.mutable_computations()->Swap(module->mutable_computations());
  left.mutable_host_program_shape()->Swap(module->mutable_host_program_shape());
  left.mutable_input_output_alias()->Swap(module->mutable_input_output_alias());
  if (RequiresDeterminism(*module)) RequireDeterminism(&left);
  return left;
}

}  // namespace

absl::Status ScreenProgram(hal::Program* program) {
  const std::string& hlo = program->hlo;
  xla::HloModuleProto sent;
  if (hlo.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !sent.ParseFromArray(hlo.data(), static_cast<int>(hlo.size()))) {
    return absl::InvalidArgumentError(
        absl::StrCat("program '", program->name, "' is not a serialised HloModuleProto (", hlo.size(), " bytes)"));
  }
  xla::HloModuleProto module = ComputationOf(&sent);
  for (xla::HloComputationProto& computation : *module.mutable_computations()) {
    for (xla::HloInstructionProto& instruction : *computation.mutable_instructions()) {
      HPU_RETURN_IF_ERROR(ScreenInstruction(program->name, &instruction));
    }
    SetDefaultLayouts(computation.mutable_program_shape());
  }
  SetDefaultLayouts(module.mutable_host_program_shape());
  program->hlo = module.SerializeAsString();
  return absl::OkStatus();
}

}  // namespace hpu::serve
