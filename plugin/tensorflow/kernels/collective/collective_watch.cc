#include "plugin/tensorflow/kernels/collective/collective_watch.h"

#include <atomic>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/log/log.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu {
namespace {

using tensorflow::CollectiveExecutor;
using tensorflow::core::RefCountPtr;

constexpr absl::Duration kPoll = absl::Milliseconds(200);
constexpr int64_t kAnswerMilliseconds = 5000;
constexpr char kAdvice[] =
    " Check that every worker is running and executes the same collectives. "
    "HPU_COLLECTIVE_STALL_S sets the time before this warning.";

std::string Describe(tensorflow::OpKernelContext& context, const tensorflow::Tensor* data) {
  const tensorflow::OpKernel& kernel = context.op_kernel();
  std::string tensor = tensorflow::DataTypeString(kernel.output_type(0));
  if (data != nullptr) absl::StrAppend(&tensor, data->shape().DebugString());
  return absl::StrCat(kernel.name(), " (", kernel.type_string(), " of ", tensor, ", group ",
                      KeyOf(context, "group_key"), ", instance ", KeyOf(context, "instance_key"), ")");
}

// Checks whether every member is up. Logs the results after all checks have ended or timed out.
class PeerHealthCheck {
 public:
  PeerHealthCheck(std::string text, RefCountPtr<CollectiveExecutor> executor, std::vector<GroupMember> members)
      : text_(std::move(text)),
        executor_(std::move(executor)),
        members_(std::move(members)),
        answers_(members_.size()) {}

  // Deletes this object at the end.
  void Start() {
    missing_ = static_cast<int>(members_.size()) + 1;
    for (size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].is_local || executor_->remote_access() == nullptr) {
        Answer(i, "is this process");
        continue;
      }
      executor_->remote_access()->CheckPeerHealth(
          members_[i].task, kAnswerMilliseconds, [this, i](const absl::Status& status) {
            Answer(i, status.ok() ? "is up" : absl::StrCat("does not respond: ", status.message()));
          });
    }
    Answered();
  }

 private:
  void Answer(size_t member, std::string answer) {
    answers_[member] = absl::StrCat("rank ", member, " (", members_[member].task, ") ", answer);
    Answered();
  }

  void Answered() {
    if (missing_.fetch_sub(1) > 1) return;
    LOG(WARNING) << text_ << " Ranks: " << absl::StrJoin(answers_, "; ") << "." << kAdvice;
    HPU_LOG(kKernels, kWarning) << text_ << " Ranks: " << absl::StrJoin(answers_, "; ") << "." << kAdvice;
    delete this;
  }

  const std::string text_;
  const RefCountPtr<CollectiveExecutor> executor_;
  const std::vector<GroupMember> members_;
  std::vector<std::string> answers_;  // each written by one callback
  std::atomic<int> missing_{0};
};

}  // namespace

int KeyOf(tensorflow::OpKernelContext& context, const char* name) {
  const tensorflow::Tensor* tensor = nullptr;
  if (context.input(name, &tensor).ok()) return tensor->scalar<int32_t>()();
  int value = 0;
  tensorflow::TryGetNodeAttr(context.op_kernel().def(), name, &value);
  return value;
}

CollectiveWatch& CollectiveWatch::Get() {
  static auto* watch = new CollectiveWatch;
  return *watch;
}

CollectiveWatch::Entry::~Entry() { CollectiveWatch::Get().End(id_); }

std::unique_ptr<CollectiveWatch::Entry> CollectiveWatch::Begin(tensorflow::OpKernelContext& context, Wait wait) {
  const int64_t limit = flags::CollectiveStallS();
  if ((limit <= 0 && wait.timeout_s <= 0) || context.collective_executor() == nullptr) return nullptr;
  Waiting waiting;
  waiting.operation = Describe(context, wait.data);
  waiting.group_key = KeyOf(context, "group_key");
  waiting.members = wait.members;
  context.collective_executor()->Ref();
  waiting.executor.reset(context.collective_executor());
  waiting.start = absl::Now();
  waiting.limit = absl::Seconds(limit);
  waiting.warned = limit <= 0;
  if (wait.timeout_s > 0) {
    waiting.timeout = absl::Seconds(wait.timeout_s);
    waiting.on_timeout = std::move(wait.on_timeout);
  }
  absl::MutexLock lock(&mutex_);
  waiting_.emplace(next_id_, std::move(waiting));
  if (thread_ == nullptr) {
    thread_ = tensorflow::Env::Default()->StartThread({}, "hpu_collective_watch", [this] { Loop(); });
  }
  return std::unique_ptr<Entry>(new Entry(next_id_++));
}

void CollectiveWatch::End(int64_t id) {
  RefCountPtr<CollectiveExecutor> executor;  // destroyed after the lock is released
  absl::MutexLock lock(&mutex_);
  const auto found = waiting_.find(id);
  executor = std::move(found->second.executor);
  waiting_.erase(found);
}

void CollectiveWatch::Loop() {
  absl::MutexLock lock(&mutex_);
  while (true) {
    mutex_.Await(absl::Condition(+[](std::map<int64_t, Waiting>* waiting) { return !waiting->empty(); }, &waiting_));
    std::vector<Waiting> stalled;
    for (auto& [id, waiting] : waiting_) {
      const absl::Duration waited = absl::Now() - waiting.start;
      if (waiting.on_timeout && waited >= waiting.timeout) std::exchange(waiting.on_timeout, nullptr)();
      if (waiting.warned || waited < waiting.limit) continue;
      waiting.warned = true;
      Waiting copy;
      copy.operation = waiting.operation;
      copy.group_key = waiting.group_key;
      copy.members = waiting.members;
      copy.limit = waiting.limit;
      waiting.executor->Ref();
      copy.executor.reset(waiting.executor.get());
      stalled.push_back(std::move(copy));
    }
    mutex_.Unlock();
    for (Waiting& waiting : stalled) Warn(std::move(waiting));
    absl::SleepFor(kPoll);
    mutex_.Lock();
  }
}

void CollectiveWatch::Warn(Waiting waiting) {
  const std::string text =
      absl::StrCat(waiting.operation, " has waited ", absl::FormatDuration(waiting.limit), " for other workers.");
  std::vector<GroupMember> members;
  tensorflow::CollGroupParams group;
  if (waiting.members != nullptr) {
    members = *waiting.members;
  } else if (waiting.executor->LookupGroup(waiting.group_key, &group).ok()) {
    for (const auto& member : group.members) members.push_back({member.task, member.is_local});
  }
  if (!members.empty()) return (new PeerHealthCheck(text, std::move(waiting.executor), std::move(members)))->Start();
  LOG(WARNING) << text << " Some workers of the group have not started a collective operation." << kAdvice;
  HPU_LOG(kKernels, kWarning) << text << " Some workers of the group have not started a collective operation."
                              << kAdvice;
}

}  // namespace hpu
