// Driver profiles: what is asked of a network device, by its driver, and what is known of it.
//
// One TOML file for each family of drivers. Those of drivers-config/ are part of the program; an
// operator's directory may replace them, or add to them, by file name. Invariant: a DriverProfiles
// has a profile named "default", no driver is in two files of one origin, and every word and number
// is in range. Plain values; read while starting, read-only afterwards, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/expected.h"

namespace wirecache::config {

// What a worker's arrays hold: no profile or port may ask for a larger burst.
inline constexpr uint16_t kMaxBurst = 32;
inline constexpr uint16_t kMinDescriptors = 32;
inline constexpr uint16_t kMaxDescriptors = 32768;
inline constexpr uint16_t kMaxDeviceQueues = 1024;  // RTE_MAX_QUEUES_PER_PORT

// What hands the device to DPDK.
enum class Binding : uint8_t {
  kVfioPci,     // dpdk-devbind.py --bind=vfio-pci
  kBifurcated,  // nothing: it keeps its kernel driver beside DPDK's
  kVdev,        // nothing: the program makes the device from its arguments
};

// Who spreads packets over several RX queues.
enum class Spreading : uint8_t {
  kRss,   // the device, as far as RSS is granted
  kPeer,  // whoever feeds the queues (the kernel, the other end) fills all that there are
  kNone,  // nobody: one queue is filled, however many are opened
};

enum class Tested : uint8_t { kHere, kVm, kNo };

struct DriverProfile {
  std::string name;                  // of the file, without ".toml"
  std::vector<std::string> drivers;  // DPDK's names: "net_ixgbe"
  Binding bind = Binding::kVfioPci;
  uint16_t rx_descriptors = 1024;  // in each queue
  uint16_t tx_descriptors = 1024;
  uint16_t burst = kMaxBurst;
  std::vector<std::string> rss;       // of kRssWords
  std::vector<std::string> offloads;  // of kOffloadWords
  Spreading spreads = Spreading::kNone;
  bool paired_queues = true;         // RX and TX queues come in pairs: no TX queue beyond them
  bool power_of_two_queues = false;  // else the driver refuses
  bool copies = false;               // descriptors hold no mbufs: packets are copied
  uint16_t max_queues = 1;           // RX or TX, whatever the driver says
  Tested tested = Tested::kNo;
  std::vector<std::string> limits;  // known, one sentence each
};

// Fields that RSS hashes, and offloads, as profiles and ports name them.
const std::vector<std::string_view>& rss_words();
const std::vector<std::string_view>& offload_words();

class DriverProfiles {
 public:
  // Those that are part of the program.
  static const DriverProfiles& built_in();
  // The same with the operator's: every *.toml of the directory. Errors: "DIRECTORY: cannot read:
  // why", or of a file "PATH:LINE: what is wrong".
  static Expected<DriverProfiles> with_directory(const std::string& directory);

  // By the driver's own name, as ethdev tells it; "default" where no profile has it.
  const DriverProfile& of_driver(std::string_view driver) const;
  // By the name of a virtual device before there is one: "net_af_xdp0". DPDK takes the driver
  // whose name the device's name begins with.
  const DriverProfile& of_vdev(std::string_view device) const;
  const std::vector<DriverProfile>& all() const { return profiles_; }

 private:
  std::vector<DriverProfile> profiles_;  // the operator's first
};

// One file. `name` is the profile's, `path` stands for the file in errors.
Expected<DriverProfile> parse_driver_profile(std::string_view text, const std::string& name,
                                             const std::string& path);

}  // namespace wirecache::config
