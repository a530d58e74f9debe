#include "plugin/base/containment/fatal_messages.h"

#include "absl/base/log_severity.h"
#include "absl/log/log_entry.h"
#include "absl/log/log_sink.h"
#include "absl/log/log_sink_registry.h"

namespace hpu::containment {
namespace {

class FatalMessages : public absl::LogSink {
 public:
  explicit FatalMessages(FatalMessageSink sink) : sink_(sink) {}

  void Send(const absl::LogEntry& entry) override {
    if (entry.log_severity() != absl::LogSeverity::kFatal) return;
    sink_(entry.text_message(), entry.source_filename(), entry.source_line());
  }

 private:
  const FatalMessageSink sink_;
};

}  // namespace

// The sink lives as long as the process, because other threads log at any time.
void AddFatalMessageSink(FatalMessageSink sink) { absl::AddLogSink(new FatalMessages(sink)); }

}  // namespace hpu::containment
