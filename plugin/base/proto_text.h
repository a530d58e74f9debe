// Protobuf messages as text.
#ifndef HPU_PLUGIN_BASE_PROTO_TEXT_H_
#define HPU_PLUGIN_BASE_PROTO_TEXT_H_

#include <string>

#include "google/protobuf/message.h"

namespace hpu {

// The message in text format, on one line. Unlike ShortDebugString() of newer protobuf, parsers accept the text.
std::string ProtoText(const google::protobuf::Message& message);

}  // namespace hpu

#endif  // HPU_PLUGIN_BASE_PROTO_TEXT_H_
