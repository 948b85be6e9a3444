#include "lib/port/exception_port.h"

#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_log.h>

#include <algorithm>
#include <utility>

#include "lib/port/eal_log.h"
#include "lib/port/packet_pool.h"

namespace wirecache::port {
namespace {

int setup(uint16_t id, uint16_t mtu, rte_mempool* pool) {
  const rte_eth_conf conf{};
  int result = rte_eth_dev_configure(id, 1, 1, &conf);
  if (result < 0) return result;
  result = rte_eth_rx_queue_setup(id, 0, kTapDescriptors, 0, nullptr, pool);
  if (result < 0) return result;
  result = rte_eth_tx_queue_setup(id, 0, kTapDescriptors, 0, nullptr);
  if (result < 0) return result;
  result = rte_eth_dev_start(id);
  if (result < 0) return result;
  return mtu == 0 ? 0 : rte_eth_dev_set_mtu(id, mtu);
}

}  // namespace

Expected<ExceptionPort, StartError> ExceptionPort::open(const config::PortConfig& config,
                                                        const Port& port, rte_mempool* pool) {
  const std::string name = "net_tap" + std::to_string(port.ethdev_id());
  const std::string devargs =
      name + ",iface=" + config.exception_interface + ",mac=" + port.mac().to_string();
  const auto failure = [&](const std::string& why) {
    return start_failure(StartFailure::kDevice, "port " + config.name + ": exception interface " +
                                                    config.exception_interface + ": " + why);
  };
  const EalLogCapture log;
  ExceptionPort exception;
  exception.interface_name_ = config.exception_interface;
  int result = rte_dev_probe(devargs.c_str());
  if (result == 0) result = rte_eth_dev_get_port_by_name(name.c_str(), &exception.ethdev_id_);
  if (result == 0) result = setup(exception.ethdev_id_, port.mtu(), pool);
  if (result < 0) {
    const std::string line = log.most_telling();
    return failure(line.empty() ? rte_strerror(-result) : line);
  }
  // It warns of flow rules and queues of the kernel that are not used here.
  rte_log_set_level_pattern("pmd.net.tap*", RTE_LOG_CRIT);
  return exception;
}

ExceptionPort::ExceptionPort(ExceptionPort&& other) noexcept {
  *this = std::move(other);
}

ExceptionPort& ExceptionPort::operator=(ExceptionPort&& other) noexcept {
  if (this == &other) return *this;
  close();
  interface_name_ = std::move(other.interface_name_);
  ethdev_id_ = std::exchange(other.ethdev_id_, kNoEthdev);
  return *this;
}

ExceptionPort::~ExceptionPort() {
  close();
}

void ExceptionPort::close() {
  if (ethdev_id_ == kNoEthdev) return;
  const EalLogCapture log;
  rte_eth_dev_info info{};
  rte_device* device = rte_eth_dev_info_get(ethdev_id_, &info) == 0 ? info.device : nullptr;
  rte_eth_dev_stop(ethdev_id_);
  rte_eth_dev_close(ethdev_id_);
  if (device != nullptr) rte_dev_remove(device);
  ethdev_id_ = kNoEthdev;
}

uint16_t ExceptionPort::to_kernel(rte_mbuf** packets, uint16_t n) {
  const uint16_t sent = rte_eth_tx_burst(ethdev_id_, 0, packets, n);
  if (sent < n) rte_pktmbuf_free_bulk(packets + sent, n - sent);
  return sent;
}

uint16_t ExceptionPort::from_kernel(rte_mbuf** out, uint16_t max) {
  return rte_eth_rx_burst(ethdev_id_, 0, out, max);
}

}  // namespace wirecache::port
