#include "plugin/rpc/error_log.h"

#include <grpc/support/log.h>

#include <cstdio>
#include <cstring>
#include <mutex>

namespace hpu::rpc {
namespace {

struct Sink {
  std::mutex mutex;
  hpu_rpc_report report = nullptr;
  void* context = nullptr;
};

Sink& TheSink() {
  static auto* sink = new Sink;
  return *sink;
}

void Forward(gpr_log_func_args* line) {
  Sink& sink = TheSink();
  std::lock_guard<std::mutex> lock(sink.mutex);
  if (sink.report != nullptr && line->severity == GPR_LOG_SEVERITY_ERROR) {
    sink.report(sink.context, 0, line->message, std::strlen(line->message));
  } else {
    std::fprintf(stderr, "gRPC: %s:%d: %s\n", line->file, line->line, line->message);
  }
}

void SetSink(hpu_rpc_report report, void* context) {
  Sink& sink = TheSink();
  std::lock_guard<std::mutex> lock(sink.mutex);
  sink.report = report;
  sink.context = context;
}

}  // namespace

ErrorLog::ErrorLog(hpu_rpc_report report, void* context) {
  SetSink(report, context);
  gpr_set_log_function(&Forward);
}

ErrorLog::~ErrorLog() { SetSink(nullptr, nullptr); }

}  // namespace hpu::rpc
