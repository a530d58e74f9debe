#include "plugin/testing/fuzz/service_fuzz.h"

#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "plugin/server/service/connection.h"
#include "plugin/testing/fuzz/fake_front.h"
#include "plugin/testing/fuzz/fake_rpc.h"
#include "plugin/testing/fuzz/random_messages.h"

// Defined by AddressSanitizer, if it is linked.
extern "C" size_t __sanitizer_get_current_allocated_bytes() __attribute__((weak));

namespace hpu::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

// A call that runs longer probably waits for an event that is never recorded.
constexpr std::chrono::milliseconds kPatience(4);
constexpr int kCallsOfASession = 200;
constexpr size_t kMaxRecipes = 8;
constexpr int64_t kReports = 20;

int64_t AllocatedBytes() {
  if (__sanitizer_get_current_allocated_bytes != nullptr) {
    return static_cast<int64_t>(__sanitizer_get_current_allocated_bytes());
  }
  return static_cast<int64_t>(mallinfo2().uordblks);
}

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "service_fuzz: %s\n", message.c_str());
  std::abort();
}

// The messages of one call.
struct Script {
  struct Message {
    std::string bytes;
    bool mutated = false;
  };
  std::vector<Message> messages;
};

// Whether these bytes are a valid message of the method.
bool IsValid(absl::string_view method, const std::string& bytes) {
  if (method == "Describe") return proto::DescribeRequest().ParseFromString(bytes);
  if (method == "MakeRecipe") return proto::MakeRecipeRequest().ParseFromString(bytes);
  return proto::RunRequest().ParseFromString(bytes);
}

std::unique_ptr<serve::Connection> MakeConnection(serve::Front* front) {
  serve::ConnectionOptions options;
  options.backend = "null";
  auto connection = serve::Connection::Create(std::move(options), front, FakeRpcApi(), [] {});
  if (!connection.ok()) Fail(connection.status().ToString());
  return *std::move(connection);
}

// A connection with its acquired session. Its Hold call runs on a separate thread.
class Holder {
 public:
  Holder(serve::Front* front, std::string acquire) : connection_(MakeConnection(front)) {
    call_.Send(std::move(acquire));
    thread_ = std::thread([this] { Serve(&call_, "Hold"); });
    const std::optional<std::string> answer = call_.WaitForAnswer();
    proto::HoldResponse response;
    if (answer.has_value() && response.ParseFromString(*answer)) session_ = response.acquired().session();
  }
  ~Holder() {
    call_.End();
    thread_.join();
  }

  // Empty if no session was acquired.
  const std::string& session() const { return session_; }
  FakeCall& call() { return call_; }
  void Serve(FakeCall* call, const std::string& method) {
    fuzz::Serve(&serve::Connection::Serve, connection_.get(), call, method);
  }

 private:
  const std::unique_ptr<serve::Connection> connection_;
  FakeCall call_;
  std::string session_;
  std::thread thread_;
};

// Ends the session of a call that would wait forever.
class Watchdog {
 public:
  Watchdog() : thread_([this] { Watch(); }) {}
  ~Watchdog() {
    stop_ = true;
    thread_.join();
  }

  void Begin(FakeCall* hold) {
    std::lock_guard<std::mutex> lock(mutex_);
    hold_ = hold;
    since_ = Clock::now();
  }
  void End() {
    std::lock_guard<std::mutex> lock(mutex_);
    hold_ = nullptr;
  }

 private:
  void Watch() {
    while (!stop_) {
      std::this_thread::sleep_for(kPatience / 4);
      std::lock_guard<std::mutex> lock(mutex_);
      if (hold_ != nullptr && Clock::now() - since_ > kPatience) hold_->End();
    }
  }

  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  FakeCall* hold_ = nullptr;  // guarded by mutex_
  Clock::time_point since_;   // guarded by mutex_
  std::thread thread_;
};

class ServiceFuzz {
 public:
  explicit ServiceFuzz(const ServiceFuzzOptions& options) : options_(options), messages_(options.seed) {}

  ServiceFuzzReport Run() {
    int64_t next_report = 0;
    while (report_.messages < options_.messages) {
      RunSession();
      if (report_.bytes_before == 0 && report_.messages >= options_.messages / 100) {
        report_.bytes_before = AllocatedBytes();
      }
      if (!options_.progress || report_.messages < next_report) continue;
      std::printf("%lld messages, %lld calls, %lld sessions, %lld bytes in use\n",
                  static_cast<long long>(report_.messages), static_cast<long long>(report_.calls),
                  static_cast<long long>(report_.sessions), static_cast<long long>(AllocatedBytes()));
      std::fflush(stdout);
      next_report += options_.messages / kReports;
    }
    report_.bytes_after = AllocatedBytes();
    return report_;
  }

 private:
  void RunSession() {
    Script acquire;
    Add(messages_.Acquire(), 20, &acquire);
    Holder holder(&front_, acquire.messages.front().bytes);
    ++report_.sessions;
    for (int i = 0; i < kCallsOfASession && !holder.call().done(); ++i) {
      if (messages_.OneIn(10)) {
        Script sign;
        Add(messages_.SignOfLife(), 4, &sign);
        holder.call().Send(sign.messages.front().bytes);
      }
      RunCall(holder);
    }
  }

  void RunCall(Holder& holder) {
    const std::string session =
        messages_.OneIn(50) ? messages_.random().Mutate(holder.session(), "x") : holder.session();
    Script script;
    const char* method = "Run";
    switch (messages_.random().Below(20)) {
      case 0:
        method = "Describe";
        Add(proto::DescribeRequest(), 2, &script);
        break;
      case 1:  // a message of another type
        Add(messages_.Acquire(), 2, &script);
        break;
      case 2:
      case 3:
      case 4:
      case 5: {
        method = "MakeRecipe";
        for (const proto::MakeRecipeRequest& request : messages_.Recipe(session, recipes_)) Add(request, 6, &script);
        if (messages_.OneIn(10)) std::swap(script.messages.front(), script.messages.back());
        break;
      }
      default: {
        proto::RunRequest first = messages_.Commands();
        if (!messages_.OneIn(20)) *first.mutable_open() = messages_.OpenStream(session);
        Add(first, 4, &script);
        for (uint64_t count = messages_.random().Below(6); count > 0; --count) Add(messages_.Commands(), 3, &script);
      }
    }
    FakeCall call;
    for (const Script::Message& message : script.messages) call.Send(message.bytes);
    call.End();
    watchdog_.Begin(&holder.call());
    holder.Serve(&call, method);
    watchdog_.End();
    Check(call, script, method);
  }

  // Adds a message, which is mutated with probability 1 / `share`.
  template <typename Message>
  void Add(const Message& message, uint64_t share, Script* script) {
    Script::Message added;
    added.bytes = message.SerializeAsString();
    if (messages_.OneIn(share)) {
      added.bytes = messages_.random().Mutate(std::move(added.bytes), other_);
      added.mutated = true;
    } else if (added.bytes.size() < Mutator::kMaxBytes) {
      other_ = added.bytes;
    }
    script->messages.push_back(std::move(added));
  }

  void Check(const FakeCall& call, const Script& script, const std::string& method) {
    ++report_.calls;
    const auto code = static_cast<absl::StatusCode>(call.code());
    if (!call.done()) Fail(absl::StrCat(method, " did not end"));
    if (code == absl::StatusCode::kInvalidArgument) ++report_.refused;
    if (code != absl::StatusCode::kOk && call.error().empty())
      Fail(absl::StrCat(method, " failed without an error text"));
    if (code == absl::StatusCode::kInternal || code == absl::StatusCode::kUnknown) {
      Fail(absl::StrCat(method, " ended with ", absl::StatusCodeToString(code), ": ", call.error()));
    }
    for (size_t i = 0; i < call.read(); ++i) {
      report_.messages += script.messages[i].mutated ? 1 : 0;
      if (!IsValid(method, script.messages[i].bytes) && code != absl::StatusCode::kInvalidArgument) {
        Fail(absl::StrCat(method, " read a damaged message and ended with ", absl::StatusCodeToString(code)));
      }
    }
    if (method == "MakeRecipe" && code == absl::StatusCode::kOk) KeepRecipe(call);
  }

  // Keeps the recipe for later loading.
  void KeepRecipe(const FakeCall& call) {
    std::string recipe;
    for (const std::string& answer : call.answers()) {
      proto::MakeRecipeResponse response;
      if (response.ParseFromString(answer)) recipe += response.chunk();
    }
    if (recipe.empty()) return;
    if (recipes_.size() < kMaxRecipes) recipes_.emplace_back();
    recipes_[messages_.random().Below(recipes_.size())] = std::move(recipe);
  }

  const ServiceFuzzOptions options_;
  RandomMessages messages_;
  Watchdog watchdog_;
  ServiceFuzzReport report_;
  std::string other_;                 // an earlier message
  std::vector<std::string> recipes_;  // sent by the server
  FakeFront front_;
};

}  // namespace

ServiceFuzzReport FuzzService(const ServiceFuzzOptions& options) { return ServiceFuzz(options).Run(); }

}  // namespace hpu::fuzz
