// World: devices that run collective programs together.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_WORLD_H_
#define HPU_PLUGIN_BACKENDS_PJRT_WORLD_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/backends/pjrt/client/client.h"

namespace hpu::pjrt {

// A random id of a World; never 0.
uint64_t NewWorldId();

// Caches the most recently used collective programs. Devices of one process share the World, because a plugin may
// join the launches of one Executable only. Thread safe.
class World {
 public:
  // `id`: equal in all processes of the world, and not 0. `client`: kept alive with the World; may be null.
  World(uint64_t id, std::unique_ptr<Client> client) : id_(id), client_(std::move(client)) {}

  // A device of a world in this process.
  struct Member {
    std::unique_ptr<Client> client;  // of the device
    std::shared_ptr<World> world;
  };
  using CreateClient = std::function<absl::StatusOr<std::unique_ptr<Client>>()>;
  // The device `index` of the world of all devices of one client in this process. `create` creates the client. Worlds
  // of one plugin and `options` are the same world while one of its devices is held. Fails with InvalidArgument if
  // there is no such device.
  static absl::StatusOr<Member> InProcess(const Plugin& plugin, const std::string& options, size_t index,
                                          const CreateClient& create);

  uint64_t id() const { return id_; }
  // Number of cached programs, for tests.
  size_t programs() const;
  // A program of CollectiveProgram whose replica r runs on the device with the id devices[r]. The first call with a
  // program compiles it; other calls wait meanwhile.
  absl::StatusOr<std::shared_ptr<const Executable>> Find(const Client& client, const std::string& program,
                                                         absl::Span<const int64_t> devices);

 private:
  using Key = std::pair<std::string, std::vector<int64_t>>;
  using Entry = std::pair<Key, std::shared_ptr<const Executable>>;

  const uint64_t id_;
  const std::unique_ptr<Client> client_;
  mutable std::mutex mutex_;
  std::list<Entry> recent_;                          // most recently used first; guarded by mutex_
  std::map<Key, std::list<Entry>::iterator> found_;  // guarded by mutex_
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_WORLD_H_
