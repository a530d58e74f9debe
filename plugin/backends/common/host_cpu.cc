#include "plugin/backends/common/host_cpu.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "plugin/compat/llvm_host.h"

namespace hpu::common {
namespace {

HostCpu DetectHostCpu() {
  compat::LlvmHost host = compat::DetectLlvmHost();
  std::sort(host.features.begin(), host.features.end());
  return {std::move(host.cpu), absl::StrJoin(host.features, ",")};
}

}  // namespace

const HostCpu& GetHostCpu() {
  static const auto* cpu = new HostCpu(DetectHostCpu());
  return *cpu;
}

}  // namespace hpu::common
