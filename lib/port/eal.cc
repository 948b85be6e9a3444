#include "lib/port/eal.h"

#include <rte_eal.h>
#include <rte_errno.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "lib/port/devargs.h"
#include "lib/port/eal_log.h"

namespace wirecache::port {
namespace {

struct Capability {
  unsigned bit;  // capability.h
  const char* name;
};

// Packet sockets, XDP programs and locked memory, TAP and netlink, in the order of capabilities(7).
constexpr std::array<Capability, 4> kNeeded = {{
    {12, "CAP_NET_ADMIN"},
    {13, "CAP_NET_RAW"},
    {14, "CAP_IPC_LOCK"},
    {21, "CAP_SYS_ADMIN"},
}};

std::string lcore_map(const config::CoresConfig& cores) {
  std::string map = std::to_string(kMainLcore) + "@" + std::to_string(cores.main);
  for (unsigned i = 0; i < cores.workers.size(); ++i)
    map += "," + std::to_string(worker_lcore(i)) + "@" + std::to_string(cores.workers[i]);
  return map;
}

StartFailure failure_kind(int error, const EalLogCapture& log) {
  // EAL reports missing huge pages as EACCES, so what it says counts more than its errno.
  if (log.mentions("hugepage") || log.mentions("memory") || error == ENOMEM)
    return StartFailure::kMemory;
  if (error == EACCES || error == EPERM) return StartFailure::kPrivilege;
  if (log.mentions("probe") || error == ENODEV || error == ENOTSUP) return StartFailure::kDevice;
  return StartFailure::kOther;
}

}  // namespace

std::vector<std::string> missing_capabilities(uint64_t effective_mask) {
  std::vector<std::string> missing;
  for (const Capability& capability : kNeeded)
    if ((effective_mask >> capability.bit & 1) == 0) missing.emplace_back(capability.name);
  return missing;
}

Expected<void, StartError> check_privilege() {
  std::ifstream status("/proc/self/status");
  uint64_t mask = 0;
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("CapEff:")) continue;
    const size_t digits = line.find_first_not_of(" \t", 7);
    if (digits != std::string::npos)
      std::from_chars(line.data() + digits, line.data() + line.size(), mask, 16);
  }
  std::string names;
  for (const std::string& name : missing_capabilities(mask))
    names += (names.empty() ? "" : ", ") + name;
  if (names.empty()) return {};
  return start_failure(StartFailure::kPrivilege, "must run as root: missing " + names);
}

uint64_t free_huge_page_bytes() {
  uint64_t total = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/kernel/mm/hugepages", error)) {
    constexpr std::string_view kPrefix = "hugepages-";
    const std::string name = entry.path().filename().string();  // "hugepages-2048kB"
    if (!name.starts_with(kPrefix)) continue;
    uint64_t page_kb = 0;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), page_kb);
    uint64_t free_pages = 0;
    std::ifstream(entry.path() / "free_hugepages") >> free_pages;
    total += free_pages * page_kb * 1024;
  }
  return total;
}

PageKind choose_pages(const config::EalConfig& eal, uint64_t free_huge_bytes) {
  if (eal.huge_pages == config::HugePages::kOn) return PageKind::kHuge;
  if (eal.huge_pages == config::HugePages::kOff) return PageKind::kNormal;
  const uint64_t wanted_bytes = uint64_t{eal.memory_mb} << 20;
  return free_huge_bytes >= wanted_bytes ? PageKind::kHuge : PageKind::kNormal;
}

std::vector<std::string> eal_arguments(const config::Config& config, PageKind pages,
                                       const std::string& program_name) {
  std::vector<std::string> arguments = {program_name,
                                        "--lcores",
                                        lcore_map(config.cores),
                                        "--main-lcore",
                                        std::to_string(kMainLcore),
                                        "-m",
                                        std::to_string(config.eal.memory_mb),
                                        "--no-telemetry"};
  // No files shared with other processes either way; 22.11 refuses --in-memory without huge pages.
  if (pages == PageKind::kHuge)
    arguments.emplace_back("--in-memory");
  else
    arguments.insert(arguments.end(), {"--no-huge", "--no-shconf"});
  std::vector<std::string> allowed;
  for (const config::PortConfig& port : config.ports) {
    for (const std::string& device : pci_devices_of(port.device)) {
      allowed.emplace_back("-a");
      allowed.push_back(device);
    }
  }
  if (allowed.empty()) {
    arguments.emplace_back("--no-pci");
    // AF_XDP takes the pool as one piece of memory, which physical addresses would cut up.
    arguments.emplace_back("--iova-mode=va");
  }
  arguments.insert(arguments.end(), allowed.begin(), allowed.end());
  arguments.insert(arguments.end(), config.eal.extra.begin(), config.eal.extra.end());
  return arguments;
}

Expected<void, StartError> start_eal(const config::Config& config,
                                     const std::string& program_name) {
  const PageKind pages = choose_pages(config.eal, free_huge_page_bytes());
  // EAL keeps pointers into its arguments.
  static std::vector<std::string> arguments;
  arguments = eal_arguments(config, pages, program_name);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);

  install_eal_log();
  const EalLogCapture log;
  rte_errno = 0;
  if (rte_eal_init(static_cast<int>(arguments.size()), pointers.data()) >= 0) return {};
  const int error = rte_errno;
  std::string why = log.most_telling();
  if (why.empty()) why = std::strerror(error);
  if (log.mentions("command line") && !config.eal.extra.empty()) why += " (see eal.extra)";
  const StartFailure kind = failure_kind(error, log);
  if (kind == StartFailure::kMemory)
    why += " (" + std::to_string(config.eal.memory_mb) + " MB of " +
           (pages == PageKind::kHuge ? "huge pages" : "memory") + " wanted)";
  return start_failure(kind, "DPDK does not start: " + why);
}

void stop_eal() {
  const EalLogCapture log;
  rte_eal_cleanup();
}

}  // namespace wirecache::port
