#include "plugin/compiler/launch_memory.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/format_bytes.h"

namespace hpu {
namespace {

constexpr size_t kMaxNamed = 3;

std::string Text(const hal::LaunchBuffer& buffer) {
  static constexpr const char* kKinds[] = {"argument", "result", "temporary"};
  const char* kind = kKinds[static_cast<int>(buffer.kind)];
  const std::string tensor = absl::StrCat(FormatBytes(buffer.bytes), " ", buffer.shape);
  if (buffer.op.empty()) return absl::StrCat(tensor, " of '", buffer.instruction, "' (", kind, ")");
  return absl::StrCat(tensor, " of '", buffer.op, "' (", buffer.op_type, ", ", kind, ")");
}

}  // namespace

LaunchMemory LaunchMemoryOf(const hal::Recipe& recipe) {
  LaunchMemory memory;
  for (const hal::TensorSpec& argument : recipe.arguments()) memory.arguments += argument.bytes;
  for (const hal::ResultSpec& result : recipe.results()) {
    if (result.aliased_argument < 0) memory.results += result.spec.bytes;
  }
  memory.workspace = recipe.workspace_bytes();
  return memory;
}

std::string LargestTensors(const hal::Recipe& recipe) {
  std::vector<hal::LaunchBuffer> buffers = recipe.buffers();
  if (buffers.empty()) return "";
  buffers.resize(std::min(buffers.size(), kMaxNamed));
  return absl::StrCat(
      "Largest tensors: ",
      absl::StrJoin(buffers, ", ", [](std::string* out, const auto& buffer) { absl::StrAppend(out, Text(buffer)); }),
      ".");
}

}  // namespace hpu
