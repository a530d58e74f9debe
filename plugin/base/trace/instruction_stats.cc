#include "plugin/base/trace/instruction_stats.h"

#include <array>
#include <atomic>

#include "absl/strings/str_cat.h"

namespace hpu::trace {
namespace {

constexpr size_t kMaxSourceLine = 4096;

std::atomic<SourceLineFinder> source_line_finder{nullptr};

std::string SourceLineOf(const std::string& op) {
  const SourceLineFinder finder = source_line_finder.load();
  if (finder == nullptr || op.empty()) return "";
  std::array<char, kMaxSourceLine> line{};
  return finder(op.c_str(), line.data(), line.size()) == 0 ? "" : line.data();
}

}  // namespace

void SetSourceLineFinder(SourceLineFinder finder) { source_line_finder.store(finder); }

std::vector<std::pair<const char*, std::string>> StatsOf(const Instruction& instruction) {
  std::vector<std::pair<const char*, std::string>> stats = {
      {"hlo_op", instruction.name}, {"hlo_category", instruction.kind}, {"hlo_module", instruction.program}};
  if (!instruction.op.empty()) stats.emplace_back("tf_op", absl::StrCat(instruction.op, ":", instruction.op_type));
  if (std::string line = SourceLineOf(instruction.op); !line.empty()) stats.emplace_back("source", std::move(line));
  return stats;
}

}  // namespace hpu::trace
