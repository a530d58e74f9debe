#include "plugin/recipes/fingerprint.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "plugin/program/hlo_ids.h"
#include "xla/service/hlo.pb.h"

namespace hpu::recipes {
namespace {

void StripComputation(xla::HloComputationProto* computation) {
  computation->clear_name();
  for (xla::HloInstructionProto& instruction : *computation->mutable_instructions()) {
    instruction.clear_name();
    instruction.clear_metadata();
  }
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
  for (xla::HloComputationProto& computation : *module.mutable_computations()) StripComputation(&computation);
  RenumberIds(&module);
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
