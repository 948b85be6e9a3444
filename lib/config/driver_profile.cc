#include "lib/config/driver_profile.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "lib/config/builtin_profiles.h"
#include "lib/config/read_file.h"
#include "lib/config/toml_reader.h"
#include "lib/config/words.h"

namespace wirecache::config {
namespace {

constexpr std::string_view kDefaultName = "default";

void read_profile(TableReader& root, DriverProfile* profile) {
  using Take = TableReader::TakeText;
  const auto add_to = [](std::vector<std::string>* target, WordList words) -> Take {
    return [=](const std::string& text) { return add_word(text, words, target); };
  };
  if (profile->name != kDefaultName) root.require("drivers");
  root.strings("drivers", &profile->drivers);
  root.word("bind",
            {{"vfio-pci", Binding::kVfioPci},
             {"bifurcated", Binding::kBifurcated},
             {"vdev", Binding::kVdev}},
            &profile->bind);
  root.integer("rx_descriptors", {kMinDescriptors, kMaxDescriptors}, &profile->rx_descriptors);
  root.integer("tx_descriptors", {kMinDescriptors, kMaxDescriptors}, &profile->tx_descriptors);
  root.integer("burst", {1, kMaxBurst}, &profile->burst);
  root.texts("rss", add_to(&profile->rss, rss_words()));
  root.texts("offloads", add_to(&profile->offloads, offload_words()));
  root.word("spreads",
            {{"rss", Spreading::kRss}, {"peer", Spreading::kPeer}, {"none", Spreading::kNone}},
            &profile->spreads);
  root.boolean("paired_queues", &profile->paired_queues);
  root.boolean("power_of_two_queues", &profile->power_of_two_queues);
  root.boolean("copies", &profile->copies);
  root.integer("max_queues", {1, kMaxDeviceQueues}, &profile->max_queues);
  root.word("tested", {{"here", Tested::kHere}, {"vm", Tested::kVm}, {"no", Tested::kNo}},
            &profile->tested);
  root.strings("limits", &profile->limits);
  root.finish();
}

void check_profile(const DriverProfile& profile, const SourceLines& lines, Problems* problems) {
  const auto problem = [&](const char* key, const std::string& message) {
    problems->add(lines.line_of(key), message);
  };
  for (const auto& [key, count] : {std::pair{"rx_descriptors", profile.rx_descriptors},
                                   std::pair{"tx_descriptors", profile.tx_descriptors}})
    if (const auto wrong = descriptor_problem(count)) problem(key, quoted_key(key) + " " + *wrong);
  if (profile.name != kDefaultName && profile.drivers.empty())
    problem("drivers", "'drivers' names no driver");
  for (size_t i = 0; i < profile.drivers.size(); ++i) {
    const auto here = profile.drivers.begin() + static_cast<std::ptrdiff_t>(i);
    if (profile.drivers[i].empty() || std::find(profile.drivers.begin(), here, *here) != here)
      problem("drivers", "'drivers' names " + quoted(profile.drivers[i]) +
                             (profile.drivers[i].empty() ? "" : " twice"));
  }
  if (profile.spreads == Spreading::kRss && profile.rss.empty())
    problem("spreads", "'spreads' is \"rss\", but 'rss' names no field");
}

bool has_driver(const DriverProfile& profile, std::string_view driver) {
  return std::ranges::find(profile.drivers, driver) != profile.drivers.end();
}

// Profiles of one origin in the order of their names, each driver in one of them.
Expected<void> add_profile(DriverProfile profile, const std::string& path,
                           std::vector<DriverProfile>* profiles) {
  for (const std::string& driver : profile.drivers)
    for (const DriverProfile& other : *profiles)
      if (has_driver(other, driver))
        return fail(path + ":1: driver " + quoted(driver) + " is in " + quoted(other.name) +
                    " as well");
  profiles->push_back(std::move(profile));
  return {};
}

Expected<std::vector<DriverProfile>> read_directory(const std::string& directory) {
  const auto paths = toml_files(directory);
  if (!paths) return Unexpected<Error>(paths.error());
  std::vector<DriverProfile> profiles;
  for (const std::string& path : *paths) {
    const auto text = read_file(path);
    if (!text) return Unexpected<Error>(text.error());
    auto profile = parse_driver_profile(*text, name_of_file(path), path);
    if (!profile) return Unexpected<Error>(profile.error());
    const auto added = add_profile(std::move(*profile), path, &profiles);
    if (!added) return Unexpected<Error>(added.error());
  }
  return profiles;
}

}  // namespace

const std::vector<std::string_view>& rss_words() {
  static const std::vector<std::string_view> words = {
      "ipv4", "ipv4-frag", "ipv4-other", "ipv4-tcp", "ipv4-udp",
      "ipv6", "ipv6-frag", "ipv6-other", "ipv6-tcp", "ipv6-udp"};
  return words;
}

const std::vector<std::string_view>& offload_words() {
  static const std::vector<std::string_view> words = {"rx-ipv4-checksum", "rx-udp-checksum",
                                                      "tx-udp-checksum", "tx-fast-free"};
  return words;
}

Expected<DriverProfile> parse_driver_profile(std::string_view text, const std::string& name,
                                             const std::string& path) {
  const auto document = parse_toml(text, path);
  if (!document) return Unexpected<Error>(document.error());
  Problems problems(path);
  DriverProfile profile;
  profile.name = name;
  TableReader root(*document, &problems);
  read_profile(root, &profile);
  if (!problems.any()) check_profile(profile, SourceLines(*document), &problems);
  if (problems.any()) return Unexpected<Error>(problems.first());
  return profile;
}

const DriverProfiles& DriverProfiles::built_in() {
  static const DriverProfiles profiles = [] {
    DriverProfiles made;
    for (const BuiltinProfile& file : builtin_profiles()) {
      const std::string path = std::string("drivers-config/") + file.name + ".toml";
      auto profile = parse_driver_profile(file.text, file.name, path);
      if (!profile) throw std::logic_error(profile.error().message);
      const auto added = add_profile(std::move(*profile), path, &made.profiles_);
      if (!added) throw std::logic_error(added.error().message);
    }
    return made;
  }();
  return profiles;
}

Expected<DriverProfiles> DriverProfiles::with_directory(const std::string& directory) {
  auto own = read_directory(directory);
  if (!own) return Unexpected<Error>(own.error());
  DriverProfiles profiles;
  profiles.profiles_ = std::move(*own);
  const size_t count = profiles.profiles_.size();
  for (const DriverProfile& profile : built_in().profiles_) {
    const auto end = profiles.profiles_.begin() + static_cast<std::ptrdiff_t>(count);
    const bool replaced = std::any_of(profiles.profiles_.begin(), end,
                                      [&](const auto& p) { return p.name == profile.name; });
    if (!replaced) profiles.profiles_.push_back(profile);
  }
  return profiles;
}

const DriverProfile& DriverProfiles::of_driver(std::string_view driver) const {
  const DriverProfile* otherwise = nullptr;
  for (const DriverProfile& profile : profiles_) {
    if (has_driver(profile, driver)) return profile;
    if (otherwise == nullptr && profile.name == kDefaultName) otherwise = &profile;
  }
  return *otherwise;
}

const DriverProfile& DriverProfiles::of_vdev(std::string_view device) const {
  std::string_view longest;
  for (const DriverProfile& profile : profiles_)
    for (const std::string& driver : profile.drivers)
      if (device.starts_with(driver) && driver.size() > longest.size()) longest = driver;
  return of_driver(longest);
}

}  // namespace wirecache::config
