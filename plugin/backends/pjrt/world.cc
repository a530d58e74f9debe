#include "plugin/backends/pjrt/world.h"

#include "plugin/backends/pjrt/collective_programs.h"
#include "plugin/base/random_id.h"
#include "plugin/base/status_macros.h"

namespace hpu::pjrt {
namespace {

constexpr size_t kMaxCollectives = 512;

}  // namespace

uint64_t NewWorldId() { return RandomNumber() | 1; }

absl::StatusOr<World::Member> World::InProcess(const Plugin& plugin, const std::string& options, size_t index,
                                               const CreateClient& create) {
  static auto* mutex = new std::mutex;
  static auto* worlds = new std::map<std::pair<const Plugin*, std::string>, std::weak_ptr<World>>;
  std::lock_guard<std::mutex> lock(*mutex);
  std::weak_ptr<World>& known = (*worlds)[{&plugin, options}];
  Member member;
  member.world = known.lock();
  if (member.world == nullptr) {
    HPU_ASSIGN_OR_RETURN(std::unique_ptr<Client> client, create());
    member.world = std::make_shared<World>(NewWorldId(), std::move(client));
    known = member.world;
  }
  HPU_ASSIGN_OR_RETURN(member.client, member.world->client_->ForDevice(index));
  return member;
}

size_t World::programs() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return found_.size();
}

absl::StatusOr<std::shared_ptr<const Executable>> World::Find(const Client& client, const std::string& program,
                                                              absl::Span<const int64_t> devices) {
  const Key key(program, std::vector<int64_t>(devices.begin(), devices.end()));
  std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = found_.find(key); found != found_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second);
    return found->second->second;
  }
  HPU_ASSIGN_OR_RETURN(const std::string options, CollectiveCompileOptions(client.plugin().path(), devices));
  HPU_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> compiled, client.CompileCollective(program, options));
  recent_.emplace_front(key, compiled);
  found_.emplace(key, recent_.begin());
  if (recent_.size() > kMaxCollectives) {
    found_.erase(recent_.back().first);
    recent_.pop_back();
  }
  return compiled;
}

}  // namespace hpu::pjrt
