#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_payloads.h"
#include "plugin/tensorflow/custom/kernel_state.h"
#include "tensorflow/core/platform/logging.h"

namespace habana {
inline namespace v1 {

std::string HpuKernelContext::State::Prefix() const {
  return absl::StrCat(definition->op(), " node '", definition->name(), "': ");
}

absl::Status HpuKernelContext::State::Finish() const {
  if (!status.ok()) return hpu::Reworded(status, absl::StrCat(Prefix(), status.message()));
  if (!node.has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat(Prefix(), "the functor returned without calling DefineNode; call DefineNode once"));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (std::find(node->outputs.begin(), node->outputs.end(), static_cast<int>(i)) == node->outputs.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat(Prefix(), "no node computes output ", i, ": add the output to DefineNode(", node->guid, ")"));
    }
  }
  return absl::OkStatus();
}

int HpuKernelContext::num_inputs() const { return static_cast<int>(state_->inputs.size()); }

int HpuKernelContext::num_outputs() const { return static_cast<int>(state_->outputs.size()); }

const tensorflow::NodeDef& HpuKernelContext::node() const { return *state_->definition; }

tensorflow::Status HpuKernelContext::InputInfo(int index, TensorInfo& info) const {
  if (index < 0 || index >= num_inputs()) {
    return absl::OutOfRangeError(absl::StrCat("InputInfo(", index, "): index is not in [0, ", num_inputs(),
                                              "), the range of the op's inputs; count from 0"));
  }
  info = state_->inputs[index];
  return absl::OkStatus();
}

tensorflow::Status HpuKernelContext::DefineOutputInfo(int index, TensorInfo info) {
  if (index < 0 || index >= num_outputs()) {
    return absl::OutOfRangeError(absl::StrCat("DefineOutputInfo(", index, "): index is not in [0, ", num_outputs(),
                                              "), the range of the op's outputs; count from 0"));
  }
  if (info.dtype != state_->output_types[index]) {
    return absl::InvalidArgumentError(absl::StrCat(
        "DefineOutputInfo(", index, "): expected dtype ", tensorflow::DataTypeString(state_->output_types[index]),
        " as declared by the op, got ", tensorflow::DataTypeString(info.dtype)));
  }
  if (state_->outputs[index].has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("DefineOutputInfo(", index, "): output ", index,
                                                   " is already defined; call DefineOutputInfo once for each output"));
  }
  state_->outputs[index] = std::move(info);
  return absl::OkStatus();
}

tensorflow::Status HpuKernelContext::DefineNode(NodeDesc desc, std::vector<int> inputs, std::vector<int> outputs) {
  const std::string call = absl::StrCat("DefineNode(", desc.guid, ")");
  if (state_->node.has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat(call, ": the functor has already defined node ", state_->node->guid, "; define only one node"));
  }
  if (desc.params_size > 0 && desc.user_params == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(call, ": user_params is null, but params_size is ", desc.params_size, "; set both or neither"));
  }
  for (const int input : inputs) {
    if (input < 0 || input >= num_inputs()) {
      return absl::OutOfRangeError(absl::StrCat(call, ": input ", input, " is not in [0, ", num_inputs(),
                                                "), the range of the op's inputs; count from 0"));
    }
  }
  for (const int output : outputs) {
    if (output < 0 || output >= num_outputs()) {
      return absl::OutOfRangeError(absl::StrCat(call, ": output ", output, " is not in [0, ", num_outputs(),
                                                "), the range of the op's outputs; count from 0"));
    }
    if (!state_->outputs[output].has_value()) {
      return absl::FailedPreconditionError(
          absl::StrCat(call, ": output ", output, " is not defined: call DefineOutputInfo(", output, ", ...) first"));
    }
    if (std::count(outputs.begin(), outputs.end(), output) > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(call, ": output ", output, " is listed twice; list each output once"));
    }
  }
  std::string params(static_cast<const char*>(desc.user_params), desc.params_size);
  state_->node =
      State::Node{std::move(desc.guid), std::move(params), std::move(desc.name), std::move(inputs), std::move(outputs)};
  return absl::OkStatus();
}

void HpuKernelContext::SetStatus(const tensorflow::Status& status) { state_->status.Update(status); }

const tensorflow::Status& HpuKernelContext::status() const { return state_->status; }

void HpuKernelContext::CtxFailure(const char* file, int line, const tensorflow::Status& status) {
  VLOG(1) << "OP_REQUIRES failed at " << file << ":" << line << " : " << status;
  SetStatus(status);
}

void HpuKernelContext::CtxFailureWithWarning(const char* file, int line, const tensorflow::Status& status) {
  CtxFailure(file, line, status);
}

}  // namespace v1
}  // namespace habana
