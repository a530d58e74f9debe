#include "plugin/compiler/checked_lowering.h"

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/containment/contained_call.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/lowering_values.h"
#include "plugin/compiler/argument_rules.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/dynamic_shapes/dynamic_operands.h"
#include "plugin/compiler/dynamic_shapes/dynamic_windows.h"
#include "plugin/compiler/inferred_shapes.h"
#include "plugin/compiler/make_lowering.h"
#include "plugin/op_facts/card_draw.h"
#include "tensorflow/compiler/tf2xla/shape_util.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/node_properties.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::PartialTensorShape;
using tensorflow::XlaOpKernelContext;
using Shapes = std::vector<PartialTensorShape>;

// The device whose lowering computes the node. tf2xla selects the random number generator by the device's name; for
// XLA:CPU it selects Philox, like the CPU kernels. Draws by the card have separate lowerings.
const char* DeviceOfLowering(const tensorflow::NodeDef& node) {
  const absl::string_view op = node.op();
  if (node.attr().contains(kCardDrawAttribute)) return kUncheckedDevice;
  const bool random = absl::StartsWith(op, "Stateless") || absl::StartsWith(op, "Stateful") ||
                      absl::StartsWith(op, "Rng") || op == "XlaRngBitGenerator";
  return random ? tensorflow::DEVICE_CPU_XLA_JIT : kUncheckedDevice;
}

// Whether shape function, argument rules and result shapes apply to an op.
bool HasArraysOnly(absl::string_view op) {
  const tensorflow::OpDef* definition = nullptr;
  if (absl::StartsWith(op, "_") || !tensorflow::OpRegistry::Global()->LookUpOpDef(std::string(op), &definition).ok()) {
    return false;
  }
  const auto is_array = [](const auto& argument) {
    return argument.type() != tensorflow::DT_VARIANT && argument.type() != tensorflow::DT_STRING;
  };
  return absl::c_all_of(definition->input_arg(), is_array) && absl::c_all_of(definition->output_arg(), is_array) &&
         absl::c_none_of(definition->output_arg(),
                         [](const auto& output) { return output.type() == tensorflow::DT_RESOURCE; }) &&
         absl::c_none_of(definition->attr(), [](const auto& attribute) {
           return attribute.type() == "func" || attribute.type() == "list(func)";
         });
}

class CheckedLowering : public tensorflow::OpKernel {
 public:
  explicit CheckedLowering(OpKernelConstruction* construction)
      : OpKernel(construction),
        activity_(tensorflow::FormatNodeDefForError(construction->def())),
        graph_def_version_(construction->graph_def_version()),
        has_arrays_only_(HasArraysOnly(construction->def().op())) {
    const containment::ActivityScope scope(activity_);
    OP_REQUIRES_OK(construction, Guarded([&] { return Initialize(construction); }));
  }

  void Compute(OpKernelContext* context) override {
    const containment::ActivityScope scope(activity_);
    const absl::Status status = Guarded([&] { return Run(context); });
    if (!status.ok()) context->SetStatus(status);
  }

 private:
  // Converts exceptions to errors: tf2xla calls value() on failed StatusOr results, and value() throws.
  template <typename Function>
  absl::Status Guarded(const Function& function) const {
    try {
      return function();
    } catch (const absl::BadStatusOrAccess& error) {
      return error.status();
    } catch (const std::exception& error) {
      return absl::InternalError(absl::StrCat(type_string(),
                                              " cannot be compiled: its lowering threw an exception: ", error.what(),
                                              ". To keep the op on the CPU, set TF_PLACE_ON_CPU=", type_string()));
    }
  }

  absl::Status Initialize(OpKernelConstruction* construction) {
    HPU_RETURN_IF_ERROR(tensorflow::XlaOpRegistry::CompileTimeConstantInputs(*this, &constants_));
    const tensorflow::NodeDef& node = construction->def();
    HPU_ASSIGN_OR_RETURN(lowering_, MakeLowering(construction, DeviceOfLowering(node)));
    if (const std::optional<tensorflow::NodeDef> unpadded = UnpaddedNode(node)) {
      HPU_ASSIGN_OR_RETURN(unpadded_, MakeLowering(construction, DeviceOfLowering(node), *unpadded));
    }
    return absl::OkStatus();
  }

  absl::Status Run(OpKernelContext* context) {
    XlaOpKernelContext xla_context(context);
    HPU_RETURN_IF_ERROR(CheckDynamicOperands(*this, constants_, &xla_context));
    HPU_RETURN_IF_ERROR(CheckRanks(*this, &xla_context));
    if (!has_arrays_only_) {
      HPU_RETURN_IF_ERROR(CheckArguments(*this, &xla_context));
      return LowerOverBounds(lowering_.get(), unpadded_.get(), context);
    }
    HPU_ASSIGN_OR_RETURN(const Shapes shapes, InferShapes(*this, constants_, graph_def_version_, &xla_context));
    HPU_RETURN_IF_ERROR(CheckArguments(*this, &xla_context));
    if (IsEmptySum(*this, shapes, &xla_context)) return SetZero(&xla_context, shapes);
    const bool has_dynamic_arrays = HasDynamicArrays(constants_, &xla_context);
    HPU_RETURN_IF_ERROR(LowerOverBounds(lowering_.get(), unpadded_.get(), context));
    for (int i = 0; i < num_outputs(); ++i) {
      HPU_RETURN_IF_ERROR(CheckResult(context, i, shapes[i], has_dynamic_arrays));
    }
    return absl::OkStatus();
  }

  absl::Status SetZero(XlaOpKernelContext* context, const Shapes& shapes) const {
    for (int i = 0; i < num_outputs(); ++i) {
      xla::Shape shape;
      tensorflow::TensorShape known;
      if (!shapes[i].AsTensorShape(&known)) {
        return absl::UnimplementedError(absl::StrCat(type_string(), ": the shape of result ", i, " is ",
                                                     shapes[i].DebugString(),
                                                     " at compile time; use inputs of static shape"));
      }
      HPU_RETURN_IF_ERROR(tensorflow::TensorShapeToXLAShape(output_type(i), known, &shape));
      context->SetOutput(i, xla::Zeros(context->builder(), shape));
    }
    return absl::OkStatus();
  }

  // Reading the shape also detects errors of the program's builder, which otherwise would not name the op.
  // `has_dynamic_arrays`: whether unknown sizes must be dynamic; a lowering that drops them would compute with the
  // bounds.
  absl::Status CheckResult(OpKernelContext* context, int i, const PartialTensorShape& expected,
                           bool has_dynamic_arrays) const {
    const tensorflow::Tensor* const output = context->mutable_output(i);
    if (output == nullptr) {
      return absl::InternalError(absl::StrCat(type_string(), ": the lowering did not set result ", i,
                                              ". To keep the op on the CPU, set TF_PLACE_ON_CPU=", type_string()));
    }
    HPU_ASSIGN_OR_RETURN(const std::optional<xla::Shape> result, ResultShapeOf(*output));
    if (!result.has_value()) return absl::OkStatus();
    const xla::Shape& shape = *result;
    xla::PrimitiveType type;
    HPU_RETURN_IF_ERROR(tensorflow::DataTypeToPrimitiveType(output_type(i), &type));
    const bool same_rank = shape.IsArray() && (expected.unknown_rank() || expected.dims() == shape.dimensions_size());
    bool same = same_rank && shape.element_type() == type;
    for (int64_t d = 0; same && d < shape.dimensions_size() && !expected.unknown_rank(); ++d) {
      same = shape.is_dynamic_dimension(d) || expected.dim_size(d) < 0 || expected.dim_size(d) == shape.dimensions(d);
      const bool is_lost = has_dynamic_arrays && !shape.is_dynamic_dimension(d) && expected.dim_size(d) < 0;
      if (is_lost) {
        return absl::UnimplementedError(absl::StrCat(
            tensorflow::FormatNodeDefForError(def()), ": ", type_string(), " is not supported here: ", "dimension ", d,
            " of result ", i, ", whose size is dynamic, has the static size ", shape.dimensions(d),
            " in the result of the op's lowering, ", shape.ToString()));
      }
    }
    if (same) return absl::OkStatus();
    return absl::UnimplementedError(absl::StrCat(type_string(), " cannot be compiled: its lowering returned ",
                                                 shape.ToString(), " as result ", i, ", expected ",
                                                 tensorflow::DataTypeString(output_type(i)), expected.DebugString(),
                                                 ". To keep the op on the CPU, set TF_PLACE_ON_CPU=", type_string()));
  }

  const std::string activity_;  // names the node in crash messages
  const int graph_def_version_;
  const bool has_arrays_only_;
  std::vector<int> constants_;
  std::unique_ptr<tensorflow::OpKernel> lowering_;
  std::unique_ptr<tensorflow::OpKernel> unpadded_;  // null if the op has no UnpaddedNode
};

}  // namespace

bool IsChecked(absl::string_view op) {
  static const auto* unchecked = new absl::flat_hash_set<absl::string_view>{"Case",
                                                                            "HabanaBoundedArgument",
                                                                            "HabanaBoundedConstant",
                                                                            "If",
                                                                            "PartitionedCall",
                                                                            "StatefulPartitionedCall",
                                                                            "StatelessCase",
                                                                            "StatelessIf",
                                                                            "StatelessWhile",
                                                                            "SymbolicGradient",
                                                                            "While",
                                                                            "XlaIf",
                                                                            "XlaWhile",
                                                                            "_Arg",
                                                                            "_ArrayToList",
                                                                            "_EagerConst",
                                                                            "_ListToArray",
                                                                            "_Retval",
                                                                            "_XlaAotOnlyVarHandleOp"};
  return !unchecked->contains(op);
}

void RegisterCheckedLowering(const tensorflow::KernelDef& unchecked) {
  auto checked = std::make_unique<tensorflow::KernelDef>(unchecked);
  checked->set_device_type(kCompilationDevice);
  // TensorFlow's registry owns the definition; the registrar object has no state.
  tensorflow::kernel_factory::OpKernelRegistrar(
      checked.release(), "HpuCheckedLowering",
      [](OpKernelConstruction* construction) -> tensorflow::OpKernel* { return new CheckedLowering(construction); });
}

}  // namespace hpu
