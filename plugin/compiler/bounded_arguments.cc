#include "plugin/compiler/bounded_arguments.h"

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/framework/tensor_util.h"

namespace hpu {
namespace {

using tensorflow::DataType;
using tensorflow::FunctionDef;
using tensorflow::NodeDef;
using ArgumentKind = ArgumentDescription::Kind;

constexpr char kSizes[] = "hpu_sizes";

// Symbol and offset of each dimension or element of one argument; symbol -1 for fixed numbers.
struct SymbolsAndOffsets {
  std::vector<int64_t> symbols;
  std::vector<int64_t> offsets;
};

SymbolsAndOffsets SymbolsOf(const BoundedArguments& bounded, int argument) {
  const ArgumentDescription& description = bounded.arguments[argument];
  const int64_t count =
      description.kind == ArgumentKind::kConstant ? description.constant.NumElements() : description.shape.dims();
  SymbolsAndOffsets found{std::vector<int64_t>(count, -1), std::vector<int64_t>(count, 0)};
  for (const SymbolicNumber& number : bounded.numbers) {
    if (number.argument != argument) continue;
    found.symbols[number.position] = number.symbol;
    found.offsets[number.position] = number.offset;
  }
  return found;
}

absl::Status MakeArgument(const BoundedArguments& bounded, int argument, const std::string& name,
                          const std::string& input, NodeDef* node) {
  const ArgumentDescription& description = bounded.arguments[argument];
  const SymbolsAndOffsets found = SymbolsOf(bounded, argument);
  return tensorflow::NodeDefBuilder(name, "HabanaBoundedArgument")
      .Input(input, 0, description.dtype)
      .Input(kSizes, 0, tensorflow::DT_INT32)
      .Attr("symbols", found.symbols)
      .Attr("offsets", found.offsets)
      .Finalize(node);
}

absl::Status MakeConstant(const BoundedArguments& bounded, int argument, const std::string& name, NodeDef* node) {
  const ArgumentDescription& description = bounded.arguments[argument];
  const SymbolsAndOffsets found = SymbolsOf(bounded, argument);
  std::vector<int64_t> bounds;
  for (const SizeRange& range : bounded.symbols) bounds.push_back(range.max);
  return tensorflow::NodeDefBuilder(name, "HabanaBoundedConstant")
      .Input(kSizes, 0, tensorflow::DT_INT32)
      .Attr("value", description.constant)
      .Attr("dtype", description.dtype)
      .Attr("symbols", found.symbols)
      .Attr("offsets", found.offsets)
      .Attr("bounds", bounds)
      .Finalize(node);
}

// Names of tensors in a function: old → new.
using TensorNames = absl::flat_hash_map<std::string, std::string>;

void RenameTensor(const TensorNames& renaming, std::string* input) {
  const bool is_control = absl::StartsWith(*input, "^");
  if (const auto found = renaming.find(*input); !is_control && found != renaming.end()) *input = found->second;
}

}  // namespace

int64_t NumberOf(const ArgumentDescription& argument, int position) {
  if (argument.kind != ArgumentKind::kConstant) return argument.shape.dim_size(position);
  return argument.dtype == tensorflow::DT_INT32 ? argument.constant.flat<int32_t>()(position)
                                                : argument.constant.flat<int64_t>()(position);
}

void SetNumber(int position, int64_t value, ArgumentDescription* argument) {
  if (argument->kind != ArgumentKind::kConstant) return argument->shape.set_dim(position, value);
  argument->constant = tensorflow::tensor::DeepCopy(argument->constant);
  if (argument->dtype == tensorflow::DT_INT32) {
    argument->constant.flat<int32_t>()(position) = static_cast<int32_t>(value);
  } else {
    argument->constant.flat<int64_t>()(position) = value;
  }
}

absl::StatusOr<BoundedFunction> MakeBoundedFunction(const ClusterSource& source, const BoundedArguments& bounded) {
  if (source.node != nullptr) return absl::UnimplementedError("single ops have no bounded recipes");
  const std::string& name = source.function.name();
  const FunctionDef* const function = source.library->Find(name);
  if (function == nullptr) return absl::NotFoundError(absl::StrCat("function ", name, " is not in the library"));
  FunctionDef changed = *function;
  TensorNames renaming;
  std::vector<NodeDef> nodes;
  for (const SymbolicNumber& number : bounded.numbers) {
    const std::string& argument = function->signature().input_arg(number.argument).name();
    const std::string node = absl::StrCat("hpu_bounded_", argument);
    if (!renaming.emplace(argument, absl::StrCat(node, ":output:0")).second) continue;
    const bool is_constant = bounded.arguments[number.argument].kind == ArgumentKind::kConstant;
    HPU_RETURN_IF_ERROR(is_constant ? MakeConstant(bounded, number.argument, node, &nodes.emplace_back())
                                    : MakeArgument(bounded, number.argument, node, argument, &nodes.emplace_back()));
  }
  for (NodeDef& node : *changed.mutable_node_def()) {
    for (std::string& input : *node.mutable_input()) RenameTensor(renaming, &input);
  }
  for (auto& [result, value] : *changed.mutable_ret()) RenameTensor(renaming, &value);
  for (NodeDef& node : nodes) *changed.add_node_def() = std::move(node);
  auto* const sizes = changed.mutable_signature()->add_input_arg();
  sizes->set_name(kSizes);
  sizes->set_type(tensorflow::DT_INT32);
  BoundedFunction made;
  made.library = std::make_unique<tensorflow::FunctionLibraryDefinition>(*source.library);
  HPU_RETURN_IF_ERROR(made.library->ReplaceFunction(name, changed));
  made.arguments = bounded.arguments;
  ArgumentDescription& symbols = made.arguments.emplace_back();
  symbols.dtype = tensorflow::DT_INT32;
  symbols.shape = tensorflow::TensorShape({static_cast<int64_t>(bounded.symbols.size())});
  return made;
}

}  // namespace hpu
