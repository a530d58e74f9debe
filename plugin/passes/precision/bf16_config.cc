#include "plugin/passes/precision/bf16_config.h"

#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "plugin/base/proto_text.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/graph/json_file.h"
#include "plugin/passes/graph/nearest_name.h"

namespace hpu::passes {
namespace {

using google::protobuf::Value;

constexpr char kAllowlist[] = "allowlist";
constexpr char kConditional[] = "conditional_list";
constexpr char kStrictConditional[] = "strict_conditional_list";
constexpr char kNonConvertible[] = "non_convertible_exceptions";
constexpr char kConvertible[] = "convertible_exceptions";

const std::vector<std::string>& Keys() {
  static const auto* keys =
      new std::vector<std::string>{kAllowlist, kConditional, kStrictConditional, kNonConvertible, kConvertible};
  return *keys;
}

// The canonical spelling of a key. Files of different releases use different spellings. Returns unknown keys unchanged.
std::string CanonicalKey(const std::string& key) {
  static const auto* spellings = new absl::flat_hash_map<std::string, std::string>({
      {"allow_list", kAllowlist},
      {"whitelist", kAllowlist},
      {"graylist", kConditional},
      {"input_only_exceptions", kStrictConditional},
  });
  const auto found = spellings->find(key);
  return found == spellings->end() ? key : found->second;
}

// Reader for the lists of one file. Errors name the file, the key and the index.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  absl::StatusOr<Bf16Config> Read(const google::protobuf::Struct& object);

 private:
  template <typename... Text>
  absl::Status Error(const Text&... text) const {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": ", text...));
  }
  absl::StatusOr<const google::protobuf::ListValue*> List(const std::string& key, const Value& value) const;
  absl::StatusOr<std::vector<std::string>> Ops(const std::string& key, const Value& value) const;
  absl::StatusOr<std::vector<Bf16Exception>> Exceptions(const std::string& key, const Value& value) const;

  const std::string path_;
};

absl::StatusOr<const google::protobuf::ListValue*> Reader::List(const std::string& key, const Value& value) const {
  if (value.kind_case() != Value::kListValue) return Error(key, " must be a list, got ", ProtoText(value));
  return &value.list_value();
}

absl::StatusOr<std::vector<std::string>> Reader::Ops(const std::string& key, const Value& value) const {
  HPU_ASSIGN_OR_RETURN(const google::protobuf::ListValue* list, List(key, value));
  std::vector<std::string> ops;
  for (const Value& entry : list->values()) {
    if (entry.kind_case() != Value::kStringValue || entry.string_value().empty()) {
      return Error(key, "[", ops.size(), "] must be an op type (a non-empty string), got ", ProtoText(entry));
    }
    ops.push_back(entry.string_value());
  }
  return ops;
}

absl::StatusOr<std::vector<Bf16Exception>> Reader::Exceptions(const std::string& key, const Value& value) const {
  HPU_ASSIGN_OR_RETURN(const google::protobuf::ListValue* list, List(key, value));
  std::vector<Bf16Exception> exceptions;
  for (const Value& entry : list->values()) {
    const auto& pair = entry.list_value().values();
    const bool is_pair = entry.kind_case() == Value::kListValue && pair.size() == 2 &&
                         pair[0].kind_case() == Value::kStringValue && pair[1].kind_case() == Value::kStringValue;
    if (!is_pair) {
      return Error(key, "[", exceptions.size(),
                   R"(] must be a pair ["regular expression for names", "op type or empty"], got )", ProtoText(entry));
    }
    auto name = std::make_shared<const RE2>(pair[0].string_value(), RE2::Quiet);
    if (!name->ok()) {
      return Error(key, "[", exceptions.size(), "]: invalid regular expression \"", pair[0].string_value(),
                   "\": ", name->error());
    }
    exceptions.push_back({std::move(name), pair[1].string_value()});
  }
  return exceptions;
}

absl::StatusOr<Bf16Config> Reader::Read(const google::protobuf::Struct& object) {
  Bf16Config config;
  std::map<std::string, std::string> seen;  // canonical key to its spelling in the file
  const std::map<std::string, Value> sorted(object.fields().begin(), object.fields().end());
  for (const auto& [key, value] : sorted) {
    const std::string canonical = CanonicalKey(key);
    const auto [other, first] = seen.emplace(canonical, key);
    if (!first) return Error(other->second, " and ", key, " name the same list: keep only one of them");
    if (canonical == kAllowlist) {
      HPU_ASSIGN_OR_RETURN(config.allowlist, Ops(key, value));
    } else if (canonical == kConditional) {
      HPU_ASSIGN_OR_RETURN(config.conditional, Ops(key, value));
    } else if (canonical == kStrictConditional) {
      HPU_ASSIGN_OR_RETURN(config.strict_conditional, Ops(key, value));
    } else if (canonical == kNonConvertible) {
      HPU_ASSIGN_OR_RETURN(config.non_convertible, Exceptions(key, value));
    } else if (canonical == kConvertible) {
      HPU_ASSIGN_OR_RETURN(config.convertible, Exceptions(key, value));
    } else {
      const std::string nearest = NearestName(key, Keys());
      return Error("unknown key ", key, nearest.empty() ? "." : absl::StrCat("; did you mean ", nearest, "?"),
                   " Valid keys: ", absl::StrJoin(Keys(), ", "));
    }
  }
  return config;
}

std::string Quote(const std::string& text) {
  Value value;
  value.set_string_value(text);
  std::string quoted;
  const auto status = google::protobuf::util::MessageToJsonString(value, &quoted);
  return status.ok() ? quoted : "\"\"";  // writing a string never fails
}

std::string JsonList(const std::vector<std::string>& entries) {
  return entries.empty() ? "[]" : absl::StrCat("[\n    ", absl::StrJoin(entries, ",\n    "), "\n  ]");
}

std::string JsonOps(const std::vector<std::string>& ops) {
  std::vector<std::string> entries;
  for (const std::string& op : ops) entries.push_back(Quote(op));
  return JsonList(entries);
}

std::string JsonExceptions(const std::vector<Bf16Exception>& exceptions) {
  std::vector<std::string> entries;
  for (const Bf16Exception& exception : exceptions) {
    entries.push_back(absl::StrCat("[", Quote(exception.name->pattern()), ", ", Quote(exception.op), "]"));
  }
  return JsonList(entries);
}

}  // namespace

std::string Bf16Config::ToJson() const {
  return absl::StrCat("{\n  \"", kAllowlist, "\": ", JsonOps(allowlist),                    //
                      ",\n  \"", kConditional, "\": ", JsonOps(conditional),                //
                      ",\n  \"", kStrictConditional, "\": ", JsonOps(strict_conditional),   //
                      ",\n  \"", kNonConvertible, "\": ", JsonExceptions(non_convertible),  //
                      ",\n  \"", kConvertible, "\": ", JsonExceptions(convertible), "\n}\n");
}

absl::StatusOr<Bf16Config> ParseBf16Config(const std::string& text, const std::string& path) {
  HPU_ASSIGN_OR_RETURN(const google::protobuf::Struct object, ParseJsonObject(text, path));
  return Reader(path).Read(object);
}

}  // namespace hpu::passes
