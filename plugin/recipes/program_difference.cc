#include "plugin/recipes/program_difference.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "google/protobuf/util/message_differencer.h"
#include "xla/service/hlo.pb.h"

namespace hpu::recipes {
namespace {

using Instructions = std::vector<const xla::HloInstructionProto*>;

// A changed shape affects most of a program; the first few instructions show where the change begins.
constexpr size_t kMaxInstructions = 5;
constexpr size_t kMaxFields = 4;
constexpr size_t kMaxKinds = 8;

// All instructions, in order, with the arguments first.
Instructions Flatten(const xla::HloModuleProto& module) {
  Instructions instructions;
  for (const xla::HloComputationProto& computation : module.computations()) {
    const bool entry = computation.id() == module.entry_computation_id();
    for (const xla::HloInstructionProto& instruction : computation.instructions()) {
      if (!entry || instruction.opcode() != "parameter") instructions.push_back(&instruction);
    }
  }
  Instructions arguments;
  for (const xla::HloComputationProto& computation : module.computations()) {
    if (computation.id() != module.entry_computation_id()) continue;
    for (const xla::HloInstructionProto& instruction : computation.instructions()) {
      if (instruction.opcode() == "parameter") arguments.push_back(&instruction);
    }
  }
  absl::c_sort(arguments, [](const auto* a, const auto* b) { return a->parameter_number() < b->parameter_number(); });
  instructions.insert(instructions.begin(), arguments.begin(), arguments.end());
  return instructions;
}

std::string NameOf(const xla::HloInstructionProto& instruction, size_t position) {
  if (instruction.opcode() == "parameter") return absl::StrCat("parameter ", instruction.parameter_number());
  return absl::StrCat(instruction.opcode(), " (instruction ", position, ")");
}

// The fields that differ, on one line; empty for equal fields.
std::string FieldDifferences(const xla::HloInstructionProto& before, const xla::HloInstructionProto& now) {
  std::string report;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&report);
  if (differencer.Compare(before, now)) return "";
  std::vector<absl::string_view> fields = absl::StrSplit(report, '\n', absl::SkipEmpty());
  const size_t count = fields.size();
  fields.resize(std::min(count, kMaxFields));
  std::string text;
  for (absl::string_view field : fields) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", absl::StripPrefix(field, "modified: "));
  }
  return count > fields.size() ? absl::StrCat(text, ", and ", count - fields.size(), " more fields") : text;
}

std::vector<std::string> CompareFields(const Instructions& before, const Instructions& now) {
  std::vector<std::string> lines;
  size_t count = 0;
  for (size_t i = 0; i < now.size(); ++i) {
    const std::string fields = FieldDifferences(*before[i], *now[i]);
    if (!fields.empty() && ++count <= kMaxInstructions) lines.push_back(absl::StrCat(NameOf(*now[i], i), ": ", fields));
  }
  if (count > lines.size()) lines.push_back(absl::StrCat("and ", count - lines.size(), " more instructions"));
  return lines;
}

std::vector<std::string> CompareKinds(const Instructions& before, const Instructions& now) {
  std::map<std::string, int64_t> more;
  for (const xla::HloInstructionProto* instruction : now) ++more[instruction->opcode()];
  for (const xla::HloInstructionProto* instruction : before) --more[instruction->opcode()];
  std::vector<std::pair<std::string, int64_t>> kinds(more.begin(), more.end());
  kinds.erase(std::remove_if(kinds.begin(), kinds.end(), [](const auto& kind) { return kind.second == 0; }),
              kinds.end());
  absl::c_stable_sort(kinds, [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
  std::vector<std::string> lines = {absl::StrCat("instructions: ", before.size(), " -> ", now.size())};
  for (size_t i = 0; i < std::min(kinds.size(), kMaxKinds); ++i) {
    const auto& [kind, count] = kinds[i];
    lines.push_back(absl::StrCat(kind, ": ", std::abs(count), count > 0 ? " more" : " fewer"));
  }
  if (kinds.empty()) lines.push_back("the same instructions in a different order");
  return lines;
}

}  // namespace

int64_t CountInstructions(const std::string& program) {
  xla::HloModuleProto module;
  if (!module.ParseFromString(program)) return 0;
  int64_t count = 0;
  for (const xla::HloComputationProto& computation : module.computations()) count += computation.instructions_size();
  return count;
}

std::vector<std::string> Differences(const std::string& before, const std::string& now) {
  if (before == now) return {};
  xla::HloModuleProto before_module, now_module;
  if (!before_module.ParseFromString(before) || !now_module.ParseFromString(now)) {
    return {"cannot parse one of the programs"};
  }
  const Instructions first = Flatten(before_module), second = Flatten(now_module);
  const bool same_kinds =
      absl::c_equal(first, second, [](const auto* a, const auto* b) { return a->opcode() == b->opcode(); });
  std::vector<std::string> lines = same_kinds ? CompareFields(first, second) : CompareKinds(first, second);
  if (lines.empty())
    lines.push_back("equal instructions; other fields of the module differ, such as the input/output aliases");
  return lines;
}

}  // namespace hpu::recipes
