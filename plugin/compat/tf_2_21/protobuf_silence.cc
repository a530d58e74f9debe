#include "plugin/compat/protobuf_silence.h"

#include "absl/base/log_severity.h"
#include "absl/log/globals.h"

namespace hpu::compat {

// Protobuf logs through Abseil, whose threshold applies to all messages.
ProtobufSilence::ProtobufSilence()
    : silence_(std::make_shared<absl::ScopedStderrThreshold>(absl::LogSeverityAtLeast::kFatal)) {}

}  // namespace hpu::compat
