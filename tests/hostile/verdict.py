"""What has to happen to a packet."""

from dataclasses import dataclass

# The labels of the metrics wirecache_drops_total (reason) and wirecache_queries_total (outcome).
DROPS = ("short_frame", "bad_ip_header", "bad_ip_checksum", "bad_udp_length", "bad_udp_checksum",
         "bad_source", "wrong_mac", "short_message", "unwanted_response", "upstream_unmatched")
OUTCOMES = ("miss", "refused", "malformed", "local")
LABELS = ("punt", *("drop " + reason for reason in DROPS), *OUTCOMES)


@dataclass(frozen=True)
class Verdict:
    """`label` is one of LABELS.

    An outcome has the reply's whole message; a miss also what the upstream is asked, from the
    flags on (the ID is random), its name in lower case. The reply to a miss is the one for an
    upstream that knows the name and has no records and no SOA: such an answer is not kept.
    """

    label: str
    reply: bytes = b""
    upstream: bytes = b""


def drop(reason):
    return Verdict("drop " + reason)


PUNT = Verdict("punt")
