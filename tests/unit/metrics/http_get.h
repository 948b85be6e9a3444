// An HTTP client of a few lines for the exporter's tests: sends bytes over a plain socket and gives
// back all that comes until the server closes. Test code, blocking, any thread.
#pragma once

#include <cstdint>
#include <string>

namespace wirecache::metrics {

// The whole response, empty if the connection failed. `host`: "127.0.0.1" or "::1".
std::string http_exchange(const std::string& host, uint16_t port, const std::string& request);

// "GET path" with "Connection: close".
std::string http_get(const std::string& host, uint16_t port, const std::string& path);

// What stands behind the blank line.
std::string body_of(const std::string& response);

}  // namespace wirecache::metrics
