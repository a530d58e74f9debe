#include "plugin/serve/program_check.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "plugin/host_kernels/host_kernels.h"
#include "xla/service/hlo.pb.h"

namespace hpu::serve {
namespace {

constexpr absl::string_view kExpandedCalls[] = {"Eigh", "ProductOfElementaryHouseholderReflectors", "Qr", "Sharding"};
constexpr absl::string_view kCommunication[] = {"all-",    "async-", "collective-",    "infeed",
                                                "outfeed", "recv",   "reduce-scatter", "send"};

}  // namespace

absl::Status CheckProgram(const hal::Program& program) {
  const std::string& hlo = program.hlo;
  xla::HloModuleProto module;
  if (hlo.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !module.ParseFromArray(hlo.data(), static_cast<int>(hlo.size()))) {
    return absl::InvalidArgumentError(
        absl::StrCat("program '", program.name, "' is no serialised HloModuleProto (", hlo.size(), " bytes)"));
  }
  for (const xla::HloComputationProto& computation : module.computations()) {
    for (const xla::HloInstructionProto& instruction : computation.instructions()) {
      const absl::string_view opcode = instruction.opcode();
      const absl::string_view target = instruction.custom_call_target();
      // Whoever runs the server chose which users' kernels it has, by its GC_KERNEL_PATH.
      if (opcode == "custom-call" && target != kHostKernelTarget &&
          std::find(std::begin(kExpandedCalls), std::end(kExpandedCalls), target) == std::end(kExpandedCalls)) {
        return absl::InvalidArgumentError(absl::StrCat("program '", program.name, "' calls the function '", target,
                                                       "', and a device server runs no code but XLA's"));
      }
      if (std::any_of(std::begin(kCommunication), std::end(kCommunication),
                      [&](absl::string_view prefix) { return absl::StartsWith(opcode, prefix); })) {
        return absl::InvalidArgumentError(absl::StrCat("program '", program.name, "' has the operation '", opcode,
                                                       "', which waits for the host or for other devices"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace hpu::serve
