#include "plugin/server/compile_workers/program_compiler.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"

namespace hpu::serve {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = CompileFrame::Kind;

constexpr std::chrono::milliseconds kStep(100);
// Time for a worker to start on a very busy machine.
constexpr std::chrono::seconds kMaxStarting(120);

size_t MaxWorkers(size_t asked) {
  return asked > 0 ? asked : std::clamp<size_t>(std::thread::hardware_concurrency(), 2, 8);
}

Kind KindOf(ProgramCompiler::Fault fault) {
  switch (fault) {
    case ProgramCompiler::Fault::kCrash:
      return Kind::kCrash;
    case ProgramCompiler::Fault::kHang:
      return Kind::kHang;
    case ProgramCompiler::Fault::kNone:
      break;
  }
  return Kind::kCompile;
}

// `begun`: the time at which the worker confirmed the request. Later failures are caused by the program.
absl::StatusOr<CompileFrame> SendRequest(const CompileProcess& worker, const CompileFrame& request,
                                         const CancellationCheck& check, std::optional<Clock::time_point>* begun) {
  HPU_RETURN_IF_ERROR(SendFrame(worker.socket(), request, check));
  HPU_ASSIGN_OR_RETURN(const CompileFrame receipt, ReceiveFrame(worker.socket(), check));
  if (receipt.kind != Kind::kBegun)
    return absl::DataLossError(
        "invalid answer from the compile worker: expected a confirmation of the request; " HPU_REPORT_BUG);
  *begun = Clock::now();
  return ReceiveFrame(worker.socket(), check);
}

absl::StatusOr<std::string> ResultOf(CompileFrame answer) {
  if (answer.kind == Kind::kRecipe) return std::move(answer.body);
  if (answer.kind == Kind::kError && answer.code != absl::StatusCode::kOk) {
    return absl::Status(answer.code, answer.body);
  }
  return absl::InternalError("invalid answer from the compile worker: expected a recipe or an error; " HPU_REPORT_BUG);
}

}  // namespace

class ProgramCompiler::Worker {
 public:
  Worker(ProgramCompiler* owner, std::unique_ptr<CompileProcess> process)
      : owner_(owner), process_(std::move(process)), is_new_(process_ == nullptr) {}
  ~Worker() {
    process_.reset();
    std::lock_guard<std::mutex> lock(owner_->mutex_);
    --owner_->in_use_;
    owner_->changed_.notify_one();
  }

  absl::Status StartIfNew() {
    if (!is_new_) return absl::OkStatus();
    absl::StatusOr<std::unique_ptr<CompileProcess>> started = CompileProcess::Start(owner_->options_.fork_server);
    // The client treats Unavailable as the loss of the server.
    if (!started.ok()) return absl::InternalError(started.status().message());
    process_ = *std::move(started);
    return absl::OkStatus();
  }
  bool is_new() const { return is_new_; }
  CompileProcess& process() { return *process_; }
  // Moves the process to the idle processes.
  void Release() {
    std::lock_guard<std::mutex> lock(owner_->mutex_);
    owner_->idle_.push_back(std::move(process_));
  }

 private:
  ProgramCompiler* const owner_;
  std::unique_ptr<CompileProcess> process_;
  const bool is_new_;
};

ProgramCompiler::ProgramCompiler(hal::Backend* backend, CompileOptions options)
    : backend_(backend), options_(std::move(options)), max_workers_(MaxWorkers(options_.max_workers)) {}

absl::StatusOr<std::unique_ptr<ProgramCompiler::Worker>> ProgramCompiler::AcquireWorker(
    const CancellationCheck& check_cancelled) {
  std::unique_ptr<Worker> worker;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!changed_.wait_for(lock, kStep, [this] { return in_use_ < max_workers_; })) {
      HPU_RETURN_IF_ERROR(check_cancelled());
    }
    std::unique_ptr<CompileProcess> process;
    if (!idle_.empty()) {
      process = std::move(idle_.back());
      idle_.pop_back();
    }
    ++in_use_;
    worker = std::make_unique<Worker>(this, std::move(process));
  }
  HPU_RETURN_IF_ERROR(worker->StartIfNew());
  return worker;
}

absl::StatusOr<std::string> ProgramCompiler::Compile(hal::Program program, Fault fault,
                                                     const CancellationCheck& check_cancelled) {
  if (options_.fork_server == nullptr) return backend_->Compile(program);
  CompileFrame request;
  request.kind = KindOf(fault);
  request.name = std::move(program.name);
  request.body = std::move(program.hlo);
  for (;;) {
    HPU_ASSIGN_OR_RETURN(const std::unique_ptr<Worker> worker, AcquireWorker(check_cancelled));
    const Clock::time_point acquired = Clock::now();
    std::optional<Clock::time_point> begun;
    const auto check = [&] {
      HPU_RETURN_IF_ERROR(check_cancelled());
      const std::chrono::seconds max = begun.has_value() ? options_.timeout : kMaxStarting;
      if (Clock::now() - begun.value_or(acquired) < max) return absl::OkStatus();
      if (!begun.has_value()) {
        return absl::InternalError(
            absl::StrCat("cannot compile program '", request.name, "': the compile worker did not start within ",
                         max.count(), " s; check the load of the device server's machine and the server's log"));
      }
      return absl::InternalError(absl::StrCat("compilation of program '", request.name, "' did not finish within ",
                                              max.count(),
                                              " s and was stopped; raise the limit with hpu serve --compile-timeout"));
    };
    absl::StatusOr<CompileFrame> answer = SendRequest(worker->process(), request, check, &begun);
    if (answer.ok()) {
      worker->Release();
      return ResultOf(*std::move(answer));
    }
    HPU_RETURN_IF_ERROR(check());
    // The request exceeds the limits of SendFrame. The worker has received nothing.
    if (absl::IsInvalidArgument(answer.status())) return answer.status();
    const std::string process = absl::StrCat("process ", worker->process().pid(), ", ", worker->process().End());
    HPU_LOG(kBackend, kWarning) << "compile worker ended (" << process << ") "
                                << (begun.has_value() ? "while compiling" : "before it compiled") << " program '"
                                << absl::CHexEscape(request.name) << "'";
    if (begun.has_value()) {
      return absl::InternalError(
          absl::StrCat("the compiler crashed on program '", request.name, "' (", process,
                       "); its last messages are in the device server's log. The server keeps running"));
    }
    if (worker->is_new()) {
      return absl::InternalError(absl::StrCat("cannot compile program '", request.name,
                                              "': the compile worker failed to start (", process,
                                              "); see the device server's log"));
    }
    // The worker ended, or was killed, while idle. The next iteration uses another worker.
  }
}

}  // namespace hpu::serve
