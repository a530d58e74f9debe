#include "plugin/base/proto_text.h"

#include "google/protobuf/text_format.h"

namespace hpu {

std::string ProtoText(const google::protobuf::Message& message) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(message, &text);
  if (!text.empty() && text.back() == ' ') text.pop_back();  // the printer separates fields by spaces
  return text;
}

}  // namespace hpu
