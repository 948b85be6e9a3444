"""The accounting that lib/stats/worker_stats.h states, checked on a scrape at rest."""


def check_sums(metrics):
    """Every packet received and every query accepted has come to exactly one end."""
    from_kernel = metrics.total("kernel_socket_queries_total")
    queries = metrics.total("client_queries_total")
    assert metrics.total("packets_received_total") + from_kernel == (
        queries + metrics.total("upstream_answers_taken_total")
        + metrics.total("upstream_icmp_unreachable_total")
        + metrics.total("drops_total") + metrics.total("punted_packets_total"))
    assert metrics.total("waiting_clients") == 0
    assert metrics.total("pending_questions") == 0
    assert queries == metrics.total("responses_total") + metrics.total("query_drops_total")
    assert queries == metrics.total("queries_total")
    assert metrics.total("hit_latency_seconds_count") == metrics.total("queries_total",
                                                                       outcome="hit")
