#include "plugin/backends/emulator/codegen/thunks/stored_code.h"

#include <algorithm>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "xla/backends/cpu/runtime/thunk.pb.h"
#include "xla/tsl/lib/strings/proto_serialization.h"

namespace hpu::emulator {
namespace {

using google::protobuf::DynamicCastToGenerated;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Clears the numbers of modules, and sorts the sets of arguments, in `message` and in all messages inside.
void Normalize(Message* message) {
  if (auto* info = DynamicCastToGenerated<xla::cpu::InfoProto>(message); info != nullptr) info->clear_module_id();
  if (auto* kernel = DynamicCastToGenerated<xla::cpu::KernelThunkProto>(message); kernel != nullptr) {
    std::sort(kernel->mutable_invariant_arguments()->begin(), kernel->mutable_invariant_arguments()->end());
  }
  const google::protobuf::Reflection& reflection = *message->GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(*message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_map()) continue;
    if (!field->is_repeated()) {
      Normalize(reflection.MutableMessage(message, field));
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(*message, field); ++i) {
      Normalize(reflection.MutableRepeatedMessage(message, field, i));
    }
  }
}

}  // namespace

std::string StoredCode(xla::cpu::CompilationResultProto result) {
  result.mutable_hlo_module()->mutable_hlo_module()->clear_id();
  for (xla::cpu::ThunkProto& thunk : *result.mutable_thunk_sequence()->mutable_thunks()) Normalize(&thunk);
  // The recipe's target already says which CPUs can run the code. XLA's loader would add advice for its code generator,
  // and report it as features that this CPU lacks.
  result.mutable_target_machine_options()->clear_features();
  std::string bytes;
  tsl::SerializeToStringDeterministic(result, &bytes);
  return bytes;
}

}  // namespace hpu::emulator
