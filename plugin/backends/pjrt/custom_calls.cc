#include "plugin/backends/pjrt/custom_calls.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_payloads.h"
#include "plugin/program/user_kernels/user_kernels.h"
#include "xla/service/hlo.pb.h"

namespace hpu::pjrt {
namespace {

absl::Status Refuse(const hal::Program& program, const xla::HloInstructionProto& call) {
  const std::string& text = call.backend_config();  // UserKernelCallText
  const std::string guid = text.substr(0, text.find('\0'));
  const xla::OpMetadata& metadata = call.metadata();
  return With(absl::UnimplementedError(absl::StrCat(
                  "compilation of ", program.name, ": the op ", metadata.op_type(), " (", metadata.op_name(),
                  ") calls the user kernel '", guid, "' (custom call ", kUserKernelTarget,
                  "), a function for the CPU, which a PJRT plugin cannot call; set HPU_BACKEND=emulator, or register "
                  "HLO for the kernel with habana::RegisterHloKernel")),
              Payload::kRemedy);
}

}  // namespace

absl::Status CheckCustomCalls(const hal::Program& program) {
  // Parsing takes longer than this search, and few programs call user kernels.
  if (!absl::StrContains(program.hlo, kUserKernelTarget)) return absl::OkStatus();
  xla::HloModuleProto module;
  if (!module.ParseFromString(program.hlo)) return absl::OkStatus();  // the plugin reports it
  for (const xla::HloComputationProto& computation : module.computations()) {
    for (const xla::HloInstructionProto& instruction : computation.instructions()) {
      const bool is_call = instruction.opcode() == "custom-call";
      if (is_call && instruction.custom_call_target() == kUserKernelTarget) return Refuse(program, instruction);
    }
  }
  return absl::OkStatus();
}

}  // namespace hpu::pjrt
