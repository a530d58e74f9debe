#include "plugin/base/json/json.h"

namespace hpu {

std::string JsonQuote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppend(&quoted, "\\u", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad4));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string JsonStrings(const std::vector<std::string>& texts) {
  return JsonList(texts, [](std::string* out, const std::string& text) { out->append(JsonQuote(text)); });
}

void JsonObject::AddLiteral(std::string_view name, const std::string& literal) {
  if (json_.size() > 1) json_ += ", ";
  json_ += '"';
  json_ += name;
  json_ += "\": ";
  json_ += literal;
}

}  // namespace hpu
