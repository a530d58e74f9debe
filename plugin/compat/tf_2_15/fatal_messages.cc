#include "plugin/base/containment/fatal_messages.h"

#include <dlfcn.h>

#include "absl/base/log_severity.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::containment {
namespace {

class FatalMessages : public tensorflow::TFLogSink {
 public:
  explicit FatalMessages(FatalMessageSink sink) : sink_(sink) {}

  void Send(const tensorflow::TFLogEntry& entry) override {
    if (entry.log_severity() == absl::LogSeverity::kFatal) sink_(entry.text_message(), entry.FName(), entry.Line());
  }

 private:
  const FatalMessageSink sink_;
};

}  // namespace

// The sink lives as long as the process, because other threads log at any time. Parts of TensorFlow log through the
// Abseil copy in libtensorflow_cc, which accepts no sinks. Such text appears on standard error only.
void AddFatalMessageSink(FatalMessageSink sink) {
  auto* messages = new FatalMessages(sink);
  tensorflow::TFAddLogSink(messages);
  // libtensorflow_cc and libtensorflow_framework each contain a copy of the log. The linker resolves TFAddLogSink to
  // libtensorflow_cc's copy.
  void* framework = dlopen("libtensorflow_framework.so.2", RTLD_LAZY | RTLD_NOLOAD);
  if (framework == nullptr) return;
  using Add = void (*)(tensorflow::TFLogSink*);
  const auto add = reinterpret_cast<Add>(dlsym(framework, "_ZN3tsl12TFAddLogSinkEPNS_9TFLogSinkE"));
  if (add != nullptr && add != static_cast<Add>(tensorflow::TFAddLogSink)) add(messages);
}

}  // namespace hpu::containment
