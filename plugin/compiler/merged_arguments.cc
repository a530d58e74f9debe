#include "plugin/compiler/merged_arguments.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tsl/platform/errors.h"

namespace hpu {
namespace {

using tensorflow::FunctionDef;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::NodeDef;

// The merged arguments by name: each name → the name of the first argument with the same variable.
using Renaming = absl::flat_hash_map<std::string, std::string>;

void Rename(const Renaming& renaming, std::string* input) {
  const bool is_control = absl::StartsWith(*input, "^");
  const auto found = renaming.find(is_control ? input->substr(1) : *input);
  if (found != renaming.end()) *input = absl::StrCat(is_control ? "^" : "", found->second);
}

// Moves the entries of the kept arguments to their new positions.
template <typename Map>
void MoveEntries(const std::vector<int>& inputs, Map* map) {
  Map moved;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto found = map->find(static_cast<uint32_t>(inputs[i]));
    if (found != map->end()) moved[static_cast<uint32_t>(i)] = found->second;
  }
  *map = std::move(moved);
}

FunctionDef WithMergedArguments(const FunctionDef& function, const std::vector<int>& inputs, const Renaming& renaming) {
  FunctionDef merged = function;
  merged.mutable_signature()->clear_input_arg();
  for (const int input : inputs) *merged.mutable_signature()->add_input_arg() = function.signature().input_arg(input);
  MoveEntries(inputs, merged.mutable_arg_attr());
  MoveEntries(inputs, merged.mutable_resource_arg_unique_id());
  for (NodeDef& node : *merged.mutable_node_def()) {
    for (std::string& input : *node.mutable_input()) Rename(renaming, &input);
  }
  for (auto& [name, value] : *merged.mutable_ret()) Rename(renaming, &value);
  return merged;
}

bool CallsFunction(const NodeDef& node, const FunctionLibraryDefinition& library) {
  return library.Contains(node.op()) || absl::c_any_of(node.attr(), [](const auto& attribute) {
           return attribute.second.has_func() || attribute.second.list().func_size() > 0;
         });
}

// The tensors of a function with the same handle as one of its arguments: the argument, and its identities.
absl::flat_hash_set<std::string> TensorsOf(const FunctionDef& function, const std::string& argument) {
  absl::flat_hash_set<std::string> tensors = {argument};
  size_t before = 0;
  while (before != tensors.size()) {
    before = tensors.size();
    for (const NodeDef& node : function.node_def()) {
      if (node.op() == "Identity" && tensors.contains(node.input(0)))
        tensors.insert(absl::StrCat(node.name(), ":output:0"));
    }
  }
  return tensors;
}

// A node that passes a variable twice to a function; null without one.
const NodeDef* CallWithVariableTwice(const FunctionDef& function, const Renaming& renaming,
                                     const FunctionLibraryDefinition& library) {
  absl::flat_hash_set<std::string> kept;
  for (const auto& [name, first] : renaming) kept.insert(first);
  for (const std::string& argument : kept) {
    const absl::flat_hash_set<std::string> tensors = TensorsOf(function, argument);
    for (const NodeDef& node : function.node_def()) {
      const auto uses =
          absl::c_count_if(node.input(), [&](const std::string& input) { return tensors.contains(input); });
      if (uses > 1 && CallsFunction(node, library)) return &node;
    }
  }
  return nullptr;
}

}  // namespace

void MergedArguments::RestoreInputs(Executable* executable) const {
  for (int& input : executable->argument_inputs) input = inputs[input];
  for (Executable::Update& update : executable->updates) update.input = inputs[update.input];
  for (Executable::Output& output : executable->outputs) {
    if (output.kind == Executable::Output::Kind::kResource) output.input = inputs[output.input];
  }
}

bool NamesVariableTwice(const std::vector<ArgumentDescription>& arguments) {
  return absl::c_any_of(arguments, [](const ArgumentDescription& argument) { return argument.same_as >= 0; });
}

absl::StatusOr<MergedArguments> MergeArguments(const ClusterSource& source,
                                               const std::vector<ArgumentDescription>& arguments) {
  if (source.node != nullptr) {
    return absl::UnimplementedError(
        absl::StrCat(source.name, ": the op takes one variable as several arguments; pass each variable once"));
  }
  const std::string& name = source.function.name();
  const FunctionDef* function = source.library->Find(name);
  if (function == nullptr) return absl::NotFoundError(absl::StrCat("function ", name, " is not in the library"));
  MergedArguments merged;
  Renaming renaming;
  const auto& signature = function->signature().input_arg();
  for (int i = 0; i < static_cast<int>(arguments.size()); ++i) {
    if (const int first = arguments[i].same_as; first >= 0) {
      renaming[signature[i].name()] = signature[first].name();
      continue;
    }
    merged.inputs.push_back(i);
    merged.arguments.push_back(arguments[i]);
  }
  const FunctionDef replaced = WithMergedArguments(*function, merged.inputs, renaming);
  if (const NodeDef* call = CallWithVariableTwice(replaced, renaming, *source.library)) {
    return absl::UnimplementedError(absl::StrCat(source.name, ": {{node ", call->name(),
                                                 "}} passes one variable as several arguments to a function; pass "
                                                 "each variable once"));
  }
  merged.library = std::make_unique<FunctionLibraryDefinition>(*source.library);
  TF_RETURN_IF_ERROR(merged.library->ReplaceFunction(name, replaced));
  return merged;
}

}  // namespace hpu
