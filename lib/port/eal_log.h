// DPDK's log, tamed: warnings and worse go to stderr as "dpdk: ..." lines; all else is dropped.
// While an EalLogCapture lives nothing is printed: lines are collected, so that a failure can be
// told in one. A capture also takes in stdout and stderr, where EAL's start, libbpf and libxdp
// print past the log.
//
// Thread: install_eal_log() and captures by main only, captures do not nest; lines may come from
// any thread (a mutex guards the sink). The sink lives as long as the process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wirecache::port {

struct EalLogLine {
  unsigned level = 0;  // RTE_LOG_*: lower is worse
  std::string text;    // without the newline
};

// Sends DPDK's log (rte_openlog_stream) through the sink. May be called before rte_eal_init().
void install_eal_log();

class EalLogCapture {
 public:
  EalLogCapture();
  ~EalLogCapture();  // drops what was collected
  EalLogCapture(const EalLogCapture&) = delete;
  EalLogCapture& operator=(const EalLogCapture&) = delete;

  // The line that says best why something failed, or "" where none was logged.
  std::string most_telling() const;
  // Whether any line of the log has this text in it, in whatever case.
  bool mentions(std::string_view text) const;

 private:
  std::vector<EalLogLine> lines() const;

  int file_ = -1;  // what stdout and stderr got
  int saved_stdout_ = -1;
  int saved_stderr_ = -1;
};

// The first of the worst lines, without its "EAL: " or "function(): " prefix, on one line.
std::string most_telling_line(const std::vector<EalLogLine>& lines);

}  // namespace wirecache::port
