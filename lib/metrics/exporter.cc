#include "lib/metrics/exporter.h"

#include <microhttpd.h>
#include <prometheus/text_serializer.h>
#include <signal.h>

#include <exception>
#include <string_view>
#include <utility>

#include "lib/base/ip_address.h"
#include "lib/metrics/listen_socket.h"
#include "lib/metrics/stats_collectable.h"

namespace wirecache::metrics {
namespace {

constexpr unsigned kMaxConnections = 64;
constexpr unsigned kIdleTimeoutSec = 30;
constexpr const char* kPlainText = "text/plain; charset=utf-8";
constexpr const char* kExposition = "text/plain; version=0.0.4; charset=utf-8";

struct Reply {
  unsigned status = MHD_HTTP_OK;
  const char* content_type = kPlainText;
  std::string body;
};

MHD_Result send(MHD_Connection* connection, Reply& reply) {
  MHD_Response* response =
      MHD_create_response_from_buffer(reply.body.size(), reply.body.data(), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply.content_type);
  MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  if (reply.status == MHD_HTTP_METHOD_NOT_ALLOWED)
    MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  const MHD_Result result = MHD_queue_response(connection, reply.status, response);
  MHD_destroy_response(response);
  return result;
}

// Signals are main's: a thread started within the life of this takes none.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

std::string cannot_listen(const Exporter::Options& options, std::string_view why) {
  const bool colons = options.address.find(':') != std::string::npos;
  const std::string host = colons ? "[" + options.address + "]" : options.address;
  return "metrics: cannot listen on " + host + ":" + std::to_string(options.port) + ": " +
         std::string(why);
}

}  // namespace

class Exporter::Service {
 public:
  explicit Service(Options options) : options_(std::move(options)), stats_(options_.sources) {}

  // libmicrohttpd's access handler. It is called once with the headers, then with each part of a
  // body, then once at the end, which is where the answer is due.
  // The number of parameters is the library's. NOLINTNEXTLINE(readability-function-size)
  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* path,
                               const char* method, const char* /*version*/, const char* /*body*/,
                               size_t* body_bytes, void** seen_before) {
    const auto* service = static_cast<const Service*>(self);
    try {
      const std::string_view verb = method;
      if (verb != MHD_HTTP_METHOD_GET && verb != MHD_HTTP_METHOD_HEAD) {
        Reply refusal{MHD_HTTP_METHOD_NOT_ALLOWED, kPlainText, "method not allowed\n"};
        return send(connection, refusal);
      }
      if (*seen_before == nullptr) {
        *seen_before = self;
        return MHD_YES;
      }
      if (*body_bytes != 0) {
        *body_bytes = 0;
        return MHD_YES;
      }
      Reply reply = service->reply_to(path);
      return send(connection, reply);
    } catch (const std::exception&) {
      return MHD_NO;  // out of memory: the connection is closed, the next scrape tries again
    }
  }

 private:
  Reply reply_to(std::string_view path) const {
    if (path == "/metrics")
      return {MHD_HTTP_OK, kExposition, prometheus::TextSerializer().Serialize(stats_.Collect())};
    if (path == "/healthz") return healthz();
    if (path == "/readyz") return readyz();
    return {MHD_HTTP_NOT_FOUND, kPlainText, "not found: try /metrics, /healthz or /readyz\n"};
  }

  bool is_healthy() const { return !options_.healthy || options_.healthy(); }

  Reply healthz() const {
    if (is_healthy()) return {MHD_HTTP_OK, kPlainText, "ok\n"};
    return {MHD_HTTP_SERVICE_UNAVAILABLE, kPlainText, "not healthy: a worker stands still\n"};
  }

  Reply readyz() const {
    if (!is_healthy())
      return {MHD_HTTP_SERVICE_UNAVAILABLE, kPlainText, "not ready: not healthy\n"};
    if (options_.ready && !options_.ready())
      return {MHD_HTTP_SERVICE_UNAVAILABLE, kPlainText, "not ready: starting or stopping\n"};
    return {MHD_HTTP_OK, kPlainText, "ready\n"};
  }

  const Options options_;
  const StatsCollectable stats_;
};

Exporter::Exporter(std::unique_ptr<Service> service) : service_(std::move(service)) {}

Exporter::~Exporter() {
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
}

Expected<std::unique_ptr<Exporter>> Exporter::start(const Options& options) {
  const auto address = IpAddress::parse(options.address);
  if (!address) return fail(cannot_listen(options, "not an IP address"));
  const auto listen_fd = open_listen_socket(*address, options.port);
  if (!listen_fd) return fail(cannot_listen(options, listen_fd.error().message));

  std::unique_ptr<Exporter> exporter(new Exporter(std::make_unique<Service>(options)));
  exporter->port_ = port_of(*listen_fd);
  {
    const SignalsBlocked signals_blocked;
    // From here on the socket is libmicrohttpd's, which closes it when it stops.
    exporter->daemon_ = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD, 0, nullptr, nullptr, &Service::on_request,
        exporter->service_.get(), MHD_OPTION_LISTEN_SOCKET, *listen_fd, MHD_OPTION_CONNECTION_LIMIT,
        kMaxConnections, MHD_OPTION_CONNECTION_TIMEOUT, kIdleTimeoutSec, MHD_OPTION_END);
  }
  if (exporter->daemon_ == nullptr)
    return fail(cannot_listen(options, "the HTTP service does not start"));
  return exporter;
}

}  // namespace wirecache::metrics
