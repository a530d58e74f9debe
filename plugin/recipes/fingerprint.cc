#include "plugin/recipes/fingerprint.h"

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "xla/service/hlo.pb.h"

namespace hpu::recipes {
namespace {

// Renumbers ids by their first appearance.
class Renumbering {
 public:
  int64_t operator()(int64_t id) { return ids_.try_emplace(id, static_cast<int64_t>(ids_.size()) + 1).first->second; }

 private:
  absl::flat_hash_map<int64_t, int64_t> ids_;
};

template <typename Field>
void Renumber(Field* field, Renumbering& ids) {
  for (auto& id : *field) id = ids(id);
}

void StripComputation(xla::HloComputationProto* computation, Renumbering& instructions, Renumbering& computations) {
  computation->clear_name();
  computation->set_id(computations(computation->id()));
  for (xla::HloInstructionProto& instruction : *computation->mutable_instructions()) {
    instruction.clear_name();
    instruction.clear_metadata();
    instruction.set_id(instructions(instruction.id()));
    Renumber(instruction.mutable_operand_ids(), instructions);
    Renumber(instruction.mutable_control_predecessor_ids(), instructions);
    Renumber(instruction.mutable_called_computation_ids(), computations);
  }
  computation->set_root_id(instructions(computation->root_id()));
  computation->mutable_program_shape()->clear_parameter_names();
}

}  // namespace

absl::StatusOr<std::string> CanonicalForm(const hal::Program& program) {
  xla::HloModuleProto module;
  if (!module.ParseFromString(program.hlo)) {
    return absl::InvalidArgumentError(absl::StrCat(program.name, ": the program is not a serialised HloModuleProto (",
                                                   program.hlo.size(), " bytes)"));
  }
  module.clear_name();
  module.clear_id();
  module.clear_entry_computation_name();
  module.mutable_host_program_shape()->clear_parameter_names();
  Renumbering instructions, computations;
  for (xla::HloComputationProto& computation : *module.mutable_computations()) {
    StripComputation(&computation, instructions, computations);
  }
  module.set_entry_computation_id(computations(module.entry_computation_id()));
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    module.SerializeToCodedStream(&coded);
  }
  return bytes;
}

}  // namespace hpu::recipes
