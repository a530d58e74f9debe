#include "plugin/compiler/merged_arguments.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"

namespace hpu {
namespace {

using tensorflow::AttrValue;
using tensorflow::FunctionDef;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::NameAttrList;
using tensorflow::NodeDef;

// Argument → the first argument with the same variable: itself, if no earlier argument has it.
using Firsts = std::vector<int>;

// Names of tensors in a function: old → new.
using Renaming = absl::flat_hash_map<std::string, std::string>;

bool Repeats(const Firsts& firsts, int argument) { return firsts[argument] != argument; }

std::vector<int> KeptArguments(const Firsts& firsts) {
  std::vector<int> kept;
  for (int i = 0; i < static_cast<int>(firsts.size()); ++i) {
    if (!Repeats(firsts, i)) kept.push_back(i);
  }
  return kept;
}

void Rename(const Renaming& renaming, std::string* input) {
  const bool is_control = absl::StartsWith(*input, "^");
  const auto found = renaming.find(is_control ? input->substr(1) : *input);
  if (found != renaming.end()) *input = absl::StrCat(is_control ? "^" : "", found->second);
}

void RenameInputs(const Renaming& renaming, FunctionDef* function) {
  for (NodeDef& node : *function->mutable_node_def()) {
    for (std::string& input : *node.mutable_input()) Rename(renaming, &input);
  }
  for (auto& [name, value] : *function->mutable_ret()) Rename(renaming, &value);
}

// Keeps the elements at the positions `kept` of the `count` elements that begin at `offset`, and those outside.
template <typename Field>
void KeepElements(const std::vector<int>& kept, int offset, int count, Field* field) {
  Field moved(field->begin(), field->begin() + offset);
  for (const int position : kept) moved.Add(typename Field::value_type(field->Get(offset + position)));
  for (int i = offset + count; i < field->size(); ++i) moved.Add(typename Field::value_type(field->Get(i)));
  field->Swap(&moved);
}

// Moves the entries of the kept arguments to their new positions.
template <typename Map>
void MoveEntries(const std::vector<int>& kept, Map* map) {
  Map moved;
  for (size_t i = 0; i < kept.size(); ++i) {
    const auto found = map->find(static_cast<uint32_t>(kept[i]));
    if (found != map->end()) moved[static_cast<uint32_t>(i)] = found->second;
  }
  *map = std::move(moved);
}

// Removes the repeated arguments. Their uses become uses of the first arguments.
void MergeSignature(const Firsts& firsts, FunctionDef* function, Renaming* renaming) {
  const auto& arguments = function->signature().input_arg();
  for (int i = 0; i < arguments.size(); ++i) {
    if (Repeats(firsts, i)) (*renaming)[arguments[i].name()] = arguments[firsts[i]].name();
  }
  const std::vector<int> kept = KeptArguments(firsts);
  KeepElements(kept, /*offset=*/0, arguments.size(), function->mutable_signature()->mutable_input_arg());
  MoveEntries(kept, function->mutable_arg_attr());
  MoveEntries(kept, function->mutable_resource_arg_unique_id());
}

// Removes the results of a loop's body that are repeated variables. A body returns each variable as it got it.
void MergeLoopResults(const Firsts& firsts, FunctionDef* body) {
  const auto& results = body->signature().output_arg();
  for (int i = 0; i < results.size(); ++i) {
    if (Repeats(firsts, i)) body->mutable_ret()->erase(results[i].name());
  }
  KeepElements(KeptArguments(firsts), /*offset=*/0, results.size(), body->mutable_signature()->mutable_output_arg());
}

// How a node passes its inputs to functions.
struct Call {
  int offset = 0;                      // inputs before the functions' arguments: the condition
  std::string types;                   // attribute with the arguments' types; empty if the op is a function
  std::vector<std::string> functions;  // attributes with functions that get all arguments
  bool is_loop = false;                // the results are the arguments' next values
};

Call DescribeCall(const std::string& op) {
  if (op == "PartitionedCall" || op == "StatefulPartitionedCall") return {.types = "Tin", .functions = {"f"}};
  if (op == "If" || op == "StatelessIf")
    return {.offset = 1, .types = "Tin", .functions = {"then_branch", "else_branch"}};
  if (op == "Case" || op == "StatelessCase") return {.offset = 1, .types = "Tin", .functions = {"branches"}};
  if (op == "While" || op == "StatelessWhile") return {.types = "T", .functions = {"cond", "body"}, .is_loop = true};
  return {};
}

bool CallsFunction(const NodeDef& node, const FunctionLibraryDefinition& library) {
  return library.Contains(node.op()) || absl::c_any_of(node.attr(), [](const auto& attribute) {
           return attribute.second.has_func() || attribute.second.list().func_size() > 0;
         });
}

std::vector<NameAttrList*> FunctionsIn(AttrValue* value) {
  if (value->has_func()) return {value->mutable_func()};
  std::vector<NameAttrList*> functions;
  for (NameAttrList& function : *value->mutable_list()->mutable_func()) functions.push_back(&function);
  return functions;
}

std::string OutputName(const NodeDef& node, int output) { return absl::StrCat(node.name(), ":output:", output); }

// The number of first inputs that become the results of equal position, if they are variables.
int CountPassedOn(const NodeDef& node) {
  if (node.op() == "Identity") return 1;
  return DescribeCall(node.op()).is_loop ? node.attr().at("T").list().type_size() : 0;
}

// The tensors of a function that are its variables: tensor → argument. These are the arguments, their identities, and
// the results of loops over them.
absl::flat_hash_map<std::string, std::string> VariablesOf(const FunctionDef& function) {
  absl::flat_hash_map<std::string, std::string> variables;
  for (const auto& argument : function.signature().input_arg()) {
    if (argument.type() == tensorflow::DT_RESOURCE) variables[argument.name()] = argument.name();
  }
  const auto pass_on = [&variables](const NodeDef& node, int input) {
    const auto found = variables.find(node.input(input));
    return found != variables.end() && variables.emplace(OutputName(node, input), std::string(found->second)).second;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const NodeDef& node : function.node_def()) {
      for (int i = 0; i < CountPassedOn(node); ++i) changed |= pass_on(node, i);
    }
  }
  return variables;
}

// The variables among a loop's results become the first results with the same variable, and the others move up.
void RenameLoopResults(const NodeDef& loop, const Firsts& firsts, Renaming* renaming) {
  std::vector<int> positions;
  int kept = 0;
  for (int i = 0; i < static_cast<int>(firsts.size()); ++i) {
    positions.push_back(Repeats(firsts, i) ? positions[firsts[i]] : kept++);
    (*renaming)[OutputName(loop, i)] = OutputName(loop, positions[i]);
  }
}

// Which arguments of a call are the same variable.
Firsts FindFirsts(const NodeDef& node, int offset, const absl::flat_hash_map<std::string, std::string>& variables) {
  Firsts firsts;
  absl::flat_hash_map<std::string, int> first_of;
  for (int i = offset; i < node.input_size() && !absl::StartsWith(node.input(i), "^"); ++i) {
    const int argument = i - offset;
    const auto found = variables.find(node.input(i));
    firsts.push_back(found == variables.end() ? argument : first_of.emplace(found->second, argument).first->second);
  }
  return firsts;
}

// Merges the arguments of functions, and of the functions that they call. The functions become new ones in the library.
class FunctionMerger {
 public:
  explicit FunctionMerger(FunctionLibraryDefinition* library) : library_(library) {}

  absl::StatusOr<FunctionDef> Merge(const FunctionDef& function, const Firsts& firsts);

 private:
  absl::StatusOr<std::string> MergeByName(const std::string& name, const Firsts& firsts, bool is_loop_body);
  absl::Status MergeCall(const Firsts& firsts, NodeDef* node, Renaming* renaming);

  FunctionLibraryDefinition* const library_;
  std::map<std::tuple<std::string, Firsts, bool>, std::string> merged_;  // also those that are being merged
};

absl::StatusOr<FunctionDef> FunctionMerger::Merge(const FunctionDef& function, const Firsts& firsts) {
  FunctionDef merged = function;
  Renaming renaming;
  MergeSignature(firsts, &merged, &renaming);
  RenameInputs(renaming, &merged);
  const absl::flat_hash_map<std::string, std::string> variables = VariablesOf(merged);
  Renaming results;
  for (NodeDef& node : *merged.mutable_node_def()) {
    if (!CallsFunction(node, *library_)) continue;
    const Firsts repeated = FindFirsts(node, DescribeCall(node.op()).offset, variables);
    if (KeptArguments(repeated).size() < repeated.size()) HPU_RETURN_IF_ERROR(MergeCall(repeated, &node, &results));
  }
  RenameInputs(results, &merged);
  return merged;
}

absl::StatusOr<std::string> FunctionMerger::MergeByName(const std::string& name, const Firsts& firsts,
                                                        bool is_loop_body) {
  const auto [entry, is_new] = merged_.try_emplace({name, firsts, is_loop_body});
  std::string& merged_name = entry->second;
  if (!is_new) return merged_name;
  merged_name = library_->UniqueFunctionName(absl::StrCat(name, "_merged_"));
  const FunctionDef* function = library_->Find(name);
  if (function == nullptr) return absl::NotFoundError(absl::StrCat("function ", name, " is not in the library"));
  HPU_ASSIGN_OR_RETURN(FunctionDef merged, Merge(*function, firsts));
  if (is_loop_body) MergeLoopResults(firsts, &merged);
  merged.mutable_signature()->set_name(merged_name);
  HPU_RETURN_IF_ERROR(library_->AddFunctionDef(merged));
  return merged_name;
}

// Adds the new names of a loop's results to `renaming`.
absl::Status FunctionMerger::MergeCall(const Firsts& firsts, NodeDef* node, Renaming* renaming) {
  const Call call = DescribeCall(node->op());
  if (library_->Contains(node->op())) {
    HPU_ASSIGN_OR_RETURN(*node->mutable_op(), MergeByName(node->op(), firsts, /*is_loop_body=*/false));
  } else if (call.functions.empty()) {
    return absl::UnimplementedError(absl::StrCat(
        "{{node ", node->name(), "}} passes one variable as several arguments to a function; pass each variable once"));
  }
  for (const std::string& attribute : call.functions) {
    const bool is_loop_body = call.is_loop && attribute == "body";
    for (NameAttrList* function : FunctionsIn(&(*node->mutable_attr())[attribute])) {
      HPU_ASSIGN_OR_RETURN(*function->mutable_name(), MergeByName(function->name(), firsts, is_loop_body));
    }
  }
  const std::vector<int> kept = KeptArguments(firsts);
  if (call.is_loop) {
    RenameLoopResults(*node, firsts, renaming);
    auto* shapes = (*node->mutable_attr())["output_shapes"].mutable_list()->mutable_shape();
    if (!shapes->empty()) KeepElements(kept, /*offset=*/0, static_cast<int>(firsts.size()), shapes);
  }
  if (!call.types.empty()) {
    auto* types = (*node->mutable_attr())[call.types].mutable_list()->mutable_type();
    KeepElements(kept, /*offset=*/0, static_cast<int>(firsts.size()), types);
  }
  KeepElements(kept, call.offset, static_cast<int>(firsts.size()), node->mutable_input());
  return absl::OkStatus();
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
  Firsts firsts(arguments.size());
  for (int i = 0; i < static_cast<int>(arguments.size()); ++i) {
    firsts[i] = arguments[i].same_as >= 0 ? arguments[i].same_as : i;
  }
  MergedArguments merged;
  merged.inputs = KeptArguments(firsts);
  for (const int input : merged.inputs) merged.arguments.push_back(arguments[input]);
  merged.library = std::make_unique<FunctionLibraryDefinition>(*source.library);
  HPU_ASSIGN_OR_RETURN(const FunctionDef replaced, FunctionMerger(merged.library.get()).Merge(*function, firsts));
  HPU_RETURN_IF_ERROR(merged.library->ReplaceFunction(name, replaced));
  return merged;
}

}  // namespace hpu
