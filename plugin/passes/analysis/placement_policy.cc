#include "plugin/passes/analysis/placement_policy.h"

#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "plugin/base/cards/cards.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/flags/parse.h"
#include "plugin/passes/analysis/custom_ops.h"
#include "plugin/passes/analysis/unlisted_ops.h"
#include "plugin/passes/functions/reachable_nodes.h"
#include "plugin/passes/graph/registered_ops.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::OpDef;

constexpr char kAllNodes[] = "all_nodes";

bool HasCardRules() { return flags::CardRules() == flags::CardRulesSetting::kOn; }

const OpListData& ListNamed(const std::string& name) {
  const OpListData* list = FindOpList(name);
  CHECK(list != nullptr) << "unknown op list " << name;  // the setting's parser accepts only existing lists
  return *list;
}

// Texts of the variables that Settings depends on; empty for unset variables.
using SettingTexts = std::array<std::string, 5>;

// Replaces `texts` by the current texts. Returns whether any changed. Costs less than parsing the settings, and eager
// execution needs the policy for each op.
bool UpdateTexts(SettingTexts* texts) {
  static constexpr std::array<const char*, std::tuple_size<SettingTexts>::value> kNames = {
      "HPU_CARD_RULES", "HPU_OP_LIST", "HPU_OP_LIST_UNKNOWN", "HPU_DEVICE_TYPE", "TF_PLACE_ON_CPU"};
  bool changed = false;
  for (size_t i = 0; i < kNames.size(); ++i) {
    const absl::string_view text = absl::NullSafeStringView(std::getenv(kNames[i]));
    if (text == (*texts)[i]) continue;
    (*texts)[i] = std::string(text);
    changed = true;
  }
  return changed;
}

// The value of HPU_OP_LIST, or its default, which depends on HPU_CARD_RULES.
std::string OpListName() {
  const bool by_card = HasCardRules() && !flags::IsSet("HPU_OP_LIST");
  return flags::NameOf(by_card ? flags::OpListSetting::kGaudi : flags::OpList());
}

// The value of HPU_OP_LIST_UNKNOWN, or its default, which depends on HPU_CARD_RULES.
flags::OpListUnknownSetting UnknownOps() {
  const bool by_card = HasCardRules() && !flags::IsSet("HPU_OP_LIST_UNKNOWN");
  return by_card ? flags::OpListUnknownSetting::kCpu : flags::OpListUnknown();
}

// Types of the card that HPU_DEVICE_TYPE names beyond the types of the first generation, one bit per DataType.
uint64_t CardTypes() {
  uint64_t types = 0;
  for (const char* name : cards::Current().added_types) {
    DataType type = tensorflow::DT_INVALID;
    CHECK(tensorflow::DataTypeFromString(name, &type)) << "unknown type " << name;
    types |= uint64_t{1} << type;
  }
  return types;
}

// The types in a type attribute or list of types; empty for a placeholder, which the caller of the function sets.
std::vector<DataType> AttributeTypes(const OpDef::AttrDef& attribute, tensorflow::AttrSlice attrs) {
  const tensorflow::AttrValue* value = attrs.Find(attribute.name());
  if (value == nullptr) value = attribute.has_default_value() ? &attribute.default_value() : nullptr;
  std::vector<DataType> types;
  if (value == nullptr || !value->placeholder().empty()) return types;
  if (attribute.type() == "type") types.push_back(value->type());
  for (const int type : value->list().type()) types.push_back(static_cast<DataType>(type));
  return types;
}

// Whether op lists apply to a type. False for handles, variants and reference types. False for strings, because no HPU
// kernel supports strings.
bool HasValues(DataType type) {
  return type != tensorflow::DT_RESOURCE && type != tensorflow::DT_VARIANT && type != tensorflow::DT_STRING &&
         type != tensorflow::DT_INVALID && !tensorflow::IsRefType(type);
}

// Gaudi's guide prints the list as [Tanh],[Erfinv].
std::string WithoutBrackets(absl::string_view entry) {
  if (absl::ConsumePrefix(&entry, "[")) absl::ConsumeSuffix(&entry, "]");
  return std::string(absl::StripAsciiWhitespace(entry));
}

bool IsArgumentOrResult(std::string_view op) {
  return absl::StartsWith(op, "_Arg") || absl::StartsWith(op, "_Retval") || absl::StartsWith(op, "_DeviceArg") ||
         absl::StartsWith(op, "_DeviceRetval");
}

}  // namespace

bool IsStructural(std::string_view op, const OpDef& definition) {
  static const auto* ops = new absl::flat_hash_set<std::string_view>{
      "Const",     "Enter",    "Exit",      "HostConst",      "LoopCond",        "Merge",     "NextIteration",
      "NoOp",      "Abort",    "RefEnter",  "RefExit",        "RefMerge",        "RefSwitch", "RefNextIteration",
      "Switch",    "_SwitchN", "Assert",    "ControlTrigger", "Placeholder",     "_Send",     "PlaceholderWithDefault",
      "_HostSend", "_Recv",    "_HostRecv", "_Switch",        "SymbolicGradient"};
  if (ops->contains(op) || IsArgumentOrResult(op) || absl::StartsWith(op, "Habana")) return true;
  return absl::c_any_of(definition.attr(),
                        [](const auto& attr) { return attr.type() == "func" || attr.type() == "list(func)"; });
}

bool IsHorovodOp(std::string_view op) { return absl::StartsWith(op, "Horovod"); }

PlacementPolicy::PlacementPolicy(const Settings& settings)
    : list_(ListNamed(settings.list)), types_(list_.types | settings.added_types), unknown_(settings.unknown) {
  for (const std::string& entry : settings.on_cpu) {
    const std::string op = WithoutBrackets(entry);
    if (op == kAllNodes) {
      all_on_cpu_ = true;
      continue;
    }
    WarnIfNoOp("TF_PLACE_ON_CPU", op, {kAllNodes});
    on_cpu_.insert(op);
  }
}

const PlacementPolicy& PlacementPolicy::Active() {
  static auto* mutex = new absl::Mutex;
  static auto* policies = new std::map<std::string, std::unique_ptr<PlacementPolicy>>;
  static thread_local SettingTexts last_texts;
  static thread_local const PlacementPolicy* last = nullptr;
  if (!UpdateTexts(&last_texts) && last != nullptr) return *last;
  Settings settings{flags::TfPlaceOnCpu(), OpListName(), UnknownOps(), CardTypes()};
  const std::string key = absl::StrCat(settings.list, "/", flags::NameOf(settings.unknown), "/", settings.added_types,
                                       "/", absl::StrJoin(settings.on_cpu, ","));
  absl::MutexLock lock(mutex);
  std::unique_ptr<PlacementPolicy>& policy = (*policies)[key];
  if (policy == nullptr) policy = std::make_unique<PlacementPolicy>(settings);
  last = policy.get();
  return *last;
}

std::optional<OpRefusal> PlacementPolicy::RefuseByUser(const std::string& op) const {
  if (on_cpu_.contains(op)) return OpRefusal{Rule::kUserSetting, absl::StrCat("TF_PLACE_ON_CPU lists ", op)};
  if (all_on_cpu_) return OpRefusal{Rule::kUserSetting, "TF_PLACE_ON_CPU=all_nodes"};
  return std::nullopt;
}

std::optional<OpRefusal> PlacementPolicy::Unknown(const std::string& op, Rule rule) const {
  if (unknown_ == flags::OpListUnknownSetting::kCpu) {
    return OpRefusal{rule,
                     absl::StrCat("the op list ", list_.name, " does not cover ", op, ", and HPU_OP_LIST_UNKNOWN=cpu")};
  }
  if (unknown_ == flags::OpListUnknownSetting::kWarn) AddUnlistedOp(list_.name, op);
  return std::nullopt;
}

std::optional<OpRefusal> PlacementPolicy::RefuseType(const std::string& op, const OpEntry& entry,
                                                     const std::string& attribute, DataType type) const {
  if (!HasValues(type)) return std::nullopt;
  const auto named = [&] { return absl::StrCat(op, " with ", attribute, "=", tensorflow::DataTypeString(type)); };
  const auto rule = absl::c_find_if(entry.types, [&](const TypeRule& r) { return attribute == r.attribute; });
  if (rule != entry.types.end() && HasType(rule->types, type)) return std::nullopt;
  if (IsIndexAttribute(list_, attribute) && HasType(list_.index_types, type)) return std::nullopt;
  const bool listed = rule != entry.types.end();
  if (!HasType(types_, type) || (listed && entry.verdict == Verdict::kDocumented)) {
    return OpRefusal{Rule::kDtype, absl::StrCat("the op list ", list_.name, " does not support ", named())};
  }
  if (!listed) return std::nullopt;
  return Unknown(named(), Rule::kDtype);
}

std::optional<OpRefusal> PlacementPolicy::RefuseByList(const std::string& op, tensorflow::AttrSlice attrs) const {
  if (list_.accepts_all) return std::nullopt;
  if (IsCustomOp(op)) return std::nullopt;
  const tensorflow::OpRegistrationData* registered = tensorflow::OpRegistry::Global()->LookUp(op);
  if (registered == nullptr || IsStructural(op, registered->op_def)) return std::nullopt;
  const OpEntry* entry = FindEntry(list_, op);
  static constexpr OpEntry kNone = {"", Verdict::kUnknown, "", 0, {}};
  for (const OpDef::AttrDef& attribute : registered->op_def.attr()) {
    if (attribute.type() != "type" && attribute.type() != "list(type)") continue;
    for (const DataType type : AttributeTypes(attribute, attrs)) {
      if (auto refusal = RefuseType(op, entry == nullptr ? kNone : *entry, attribute.name(), type)) return refusal;
    }
  }
  if (entry != nullptr && entry->verdict != Verdict::kUnknown) return std::nullopt;
  return Unknown(op, Rule::kOpList);
}

std::optional<OpRefusal> PlacementPolicy::Refuse(const std::string& op, tensorflow::AttrSlice attrs) const {
  if (AcceptsAllTypes(op) || IsArgumentOrResult(op)) return std::nullopt;
  if (auto refusal = RefuseByUser(op)) return refusal;
  if (IsHorovodOp(op)) return OpRefusal{Rule::kHorovod, absl::StrCat(op, " operates on host memory")};
  return RefuseByList(op, attrs);
}

int PlacementPolicy::MaxRank(const std::string& op) const {
  const OpEntry* entry = FindEntry(list_, op);
  return entry == nullptr ? 0 : entry->max_rank;
}

absl::Status PlacementPolicy::CheckMustCompile(const std::string& function,
                                               const tensorflow::FunctionLibraryDefinition& library) const {
  if (accepts_all()) return absl::OkStatus();
  const auto refuse = [this](const tensorflow::NodeDef& node) {
    return Refuse(node.op(), tensorflow::AttrSlice(node));
  };
  const tensorflow::NodeDef* node =
      FindReachableNode(function, library, [&](const tensorflow::NodeDef& inner) { return refuse(inner).has_value(); });
  if (node == nullptr) return absl::OkStatus();
  const auto refusal = refuse(*node);
  return absl::InvalidArgumentError(
      absl::StrCat("jit_compile=True: ", function, " must be compiled as a whole for the HPU, but its op ",
                   node->name(), " (", node->op(), ") is kept off the HPU by rule ", NameOf(refusal->rule), ": ",
                   refusal->reason, ". Change the setting, or remove jit_compile=True."));
}

}  // namespace hpu::passes
