// Which NUMA node a port's device and a CPU are on, as the kernel says in sysfs, before EAL starts.
//
// Reads files below a root that the caller names (/sys, or a tree that a test made up). Main only.
#pragma once

#include <string>

#include "lib/config/placement.h"

namespace wirecache::port {

inline constexpr const char* kSysfs = "/sys";

// Of the PCI device, or of the one below the kernel's interface that a virtual device uses; of the
// first member of a bonding device. config::kUnknownNode where there is none or the kernel does not
// know, as on most machines with one node.
int device_node(const std::string& device, const std::string& sysfs = kSysfs);

// config::kUnknownNode where no node has the CPU.
int cpu_node(unsigned cpu, const std::string& sysfs = kSysfs);

// Whether a list of the kernel's, "0-3,8,10-11", has the number.
bool in_cpu_list(const std::string& list, unsigned cpu);

}  // namespace wirecache::port
