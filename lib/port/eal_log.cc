#include "lib/port/eal_log.h"

#include <rte_log.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace wirecache::port {
namespace {

constexpr size_t kMaxLines = 256;  // an endless stream of errors must not fill the memory

struct Sink {
  std::mutex mutex;
  bool capturing = false;
  std::vector<EalLogLine> lines;
};

Sink& sink() {
  static Sink* const instance = new Sink;  // outlives every thread that may log
  return *instance;
}

void split_lines(std::string_view text, unsigned level, std::vector<EalLogLine>& out) {
  while (!text.empty() && out.size() < kMaxLines) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) out.push_back({level, std::string(text.substr(0, end))});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Called with one whole message: rte_vlog() flushes after each, on the thread that logs.
ssize_t write_message(void*, const char* data, size_t bytes) {
  const auto level = static_cast<unsigned>(rte_log_cur_msg_loglevel());
  Sink& to = sink();
  const std::lock_guard lock(to.mutex);
  if (to.capturing) {
    split_lines({data, bytes}, level, to.lines);
  } else if (level <= RTE_LOG_WARNING) {
    std::vector<EalLogLine> lines;
    split_lines({data, bytes}, level, lines);
    for (const EalLogLine& line : lines) std::fprintf(stderr, "dpdk: %s\n", line.text.c_str());
  }
  return static_cast<ssize_t>(bytes);
}

// "EAL: text", "eth_dev_af_xdp_create(): text" and "net_tap: text" → "text".
std::string_view without_prefix(std::string_view text) {
  for (size_t colon = text.find(": "); colon != std::string_view::npos; colon = text.find(": ")) {
    const std::string_view prefix = text.substr(0, colon);
    const bool one_word = std::all_of(prefix.begin(), prefix.end(), [](unsigned char c) {
      return std::isalnum(c) || c == '_' || c == '(' || c == ')';
    });
    if (!one_word || prefix.empty()) break;
    text.remove_prefix(colon + 2);
  }
  return text;
}

int redirect(int from, int to) {
  const int saved = dup(from);
  if (saved >= 0) dup2(to, from);
  return saved;
}

void restore(int saved, int fd) {
  if (saved < 0) return;
  dup2(saved, fd);
  close(saved);
}

}  // namespace

std::string most_telling_line(const std::vector<EalLogLine>& lines) {
  const EalLogLine* best = nullptr;
  for (const EalLogLine& line : lines)
    if (best == nullptr || line.level < best->level) best = &line;
  if (best == nullptr) return "";
  std::string_view text = without_prefix(best->text);
  while (!text.empty() && (std::isspace(static_cast<unsigned char>(text.back())) ||
                           text.back() == '.' || text.back() == '!'))
    text.remove_suffix(1);
  return std::string(text);
}

void install_eal_log() {
  cookie_io_functions_t functions{};
  functions.write = write_message;
  FILE* stream = fopencookie(nullptr, "w", functions);
  if (stream != nullptr) rte_openlog_stream(stream);
}

EalLogCapture::EalLogCapture() {
  {
    const std::lock_guard lock(sink().mutex);
    sink().capturing = true;
    sink().lines.clear();
  }
  file_ = memfd_create("wc-eal-output", MFD_CLOEXEC);
  if (file_ < 0) return;
  std::fflush(stdout);
  std::fflush(stderr);
  saved_stdout_ = redirect(STDOUT_FILENO, file_);
  saved_stderr_ = redirect(STDERR_FILENO, file_);
}

EalLogCapture::~EalLogCapture() {
  std::fflush(stdout);
  std::fflush(stderr);
  restore(saved_stdout_, STDOUT_FILENO);
  restore(saved_stderr_, STDERR_FILENO);
  if (file_ >= 0) close(file_);
  const std::lock_guard lock(sink().mutex);
  sink().capturing = false;
  sink().lines.clear();
}

std::vector<EalLogLine> EalLogCapture::lines() const {
  std::vector<EalLogLine> all;
  {
    const std::lock_guard lock(sink().mutex);
    all = sink().lines;
  }
  if (file_ < 0) return all;
  std::fflush(stdout);
  std::fflush(stderr);
  std::string printed(64 * 1024, '\0');
  const ssize_t bytes = pread(file_, printed.data(), printed.size(), 0);
  // No level of its own: after the warnings of the log, for it is often a usage text.
  if (bytes > 0) split_lines({printed.data(), static_cast<size_t>(bytes)}, RTE_LOG_WARNING, all);
  return all;
}

std::string EalLogCapture::most_telling() const {
  return most_telling_line(lines());
}

bool EalLogCapture::mentions(std::string_view text) const {
  const std::string wanted(text);
  const std::lock_guard lock(sink().mutex);
  const std::vector<EalLogLine>& logged = sink().lines;
  return std::any_of(logged.begin(), logged.end(), [&](const EalLogLine& line) {
    return strcasestr(line.text.c_str(), wanted.c_str()) != nullptr;
  });
}

}  // namespace wirecache::port
