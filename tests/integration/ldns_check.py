"""ldns's opinion on a DNS message: whether it is one, what stands in it, and whose signatures hold.

By ctypes from the library that drill uses: Debian's Python binding cannot be given bytes above 127.
"""

import contextlib
import ctypes

_POINTERS = (  # function, what it takes; all give a pointer
    ("pkt2str", "p"), ("pkt_answer", "p"), ("pkt_authority", "p"), ("pkt_additional", "p"),
    ("rr_list_rr", "pz"), ("rr_owner", "p"), ("rr_clone", "p"), ("rr2str", "p"),
    ("rr_rrsig_typecovered", "p"), ("rr_list_new", ""), ("pkt_rr_list_by_name_and_type", "ppii"),
)
_KINDS = {"p": ctypes.c_void_p, "z": ctypes.c_size_t, "i": ctypes.c_int}
_RRSIG, _SECTION_ANY_NOQUESTION = 46, 5

_LDNS = ctypes.CDLL("libldns.so.3")
for _name, _takes in _POINTERS:
    _function = getattr(_LDNS, "ldns_" + _name)
    _function.argtypes = tuple(_KINDS[k] for k in _takes)
    _function.restype = ctypes.c_void_p
_LDNS.ldns_wire2pkt.argtypes = (ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_size_t)
_LDNS.ldns_pkt_free.argtypes = (ctypes.c_void_p,)
_LDNS.ldns_rr_free.argtypes = (ctypes.c_void_p,)
_LDNS.ldns_rr_list_deep_free.argtypes = (ctypes.c_void_p,)
_LDNS.ldns_rr_list_free.argtypes = (ctypes.c_void_p,)
_LDNS.ldns_rr_list_rr_count.argtypes = (ctypes.c_void_p,)
_LDNS.ldns_rr_list_rr_count.restype = ctypes.c_size_t
_LDNS.ldns_rr_get_type.argtypes = (ctypes.c_void_p,)
_LDNS.ldns_rr2canonical.argtypes = (ctypes.c_void_p,)
_LDNS.ldns_rr_set_ttl.argtypes = (ctypes.c_void_p, ctypes.c_uint32)
_LDNS.ldns_rdf2rr_type.argtypes = (ctypes.c_void_p,)
_LDNS.ldns_verify_rrsig_keylist.argtypes = (ctypes.c_void_p,) * 4
_LDNS.ldns_get_errorstr_by_id.restype = ctypes.c_char_p
_LIBC = ctypes.CDLL(None)
_LIBC.free.argtypes = (ctypes.c_void_p,)


def complaint(wire):
    """None if ldns parses the message and can print it, else what it says."""
    packet = ctypes.c_void_p()
    status = _LDNS.ldns_wire2pkt(ctypes.byref(packet), wire, len(wire))
    if status != 0:
        return _error(status)
    text = _LDNS.ldns_pkt2str(packet)
    _LDNS.ldns_pkt_free(packet)
    if not text:
        return "ldns cannot print the message"
    _LIBC.free(text)
    return None


def records(wire, section):
    """The records of "answer", "authority" or "additional", sorted, as canonical text, TTL 0."""
    with _packet(wire) as packet:
        return sorted(_text(rr) for rr in _each(getattr(_LDNS, "ldns_pkt_" + section)(packet)))


def bad_signatures(wire, keys_wire):
    """(signatures in the message, what ldns says of those that do not hold) by the DNSKEYs of
    another message."""
    complaints = []
    count = 0
    with _packet(wire) as packet, _packet(keys_wire) as keys_packet:
        keys = _LDNS.ldns_pkt_answer(keys_packet)
        for section in ("answer", "authority"):
            for rr in _each(getattr(_LDNS, "ldns_pkt_" + section)(packet)):
                if _LDNS.ldns_rr_get_type(rr) != _RRSIG:
                    continue
                count += 1
                status = _verify(packet, rr, keys)
                if status != 0:
                    complaints.append(f"{_text(rr)}: {_error(status)}")
    return count, complaints


def _verify(packet, signature, keys):
    covered = _LDNS.ldns_rdf2rr_type(_LDNS.ldns_rr_rrsig_typecovered(signature))
    rrset = _LDNS.ldns_pkt_rr_list_by_name_and_type(packet, _LDNS.ldns_rr_owner(signature), covered,
                                                    _SECTION_ANY_NOQUESTION)
    good = _LDNS.ldns_rr_list_new()
    try:
        return _LDNS.ldns_verify_rrsig_keylist(rrset, signature, keys, good)
    finally:
        _LDNS.ldns_rr_list_free(good)
        if rrset:
            _LDNS.ldns_rr_list_deep_free(rrset)


@contextlib.contextmanager
def _packet(wire):
    packet = ctypes.c_void_p()
    status = _LDNS.ldns_wire2pkt(ctypes.byref(packet), wire, len(wire))
    if status != 0:
        raise ValueError(f"{_error(status)}: {wire.hex()}")
    try:
        yield packet
    finally:
        _LDNS.ldns_pkt_free(packet)


def _each(rr_list):
    for i in range(_LDNS.ldns_rr_list_rr_count(rr_list)):
        yield _LDNS.ldns_rr_list_rr(rr_list, i)


def _text(rr):
    copy = _LDNS.ldns_rr_clone(rr)
    _LDNS.ldns_rr_set_ttl(copy, 0)
    _LDNS.ldns_rr2canonical(copy)
    text = _LDNS.ldns_rr2str(copy)
    _LDNS.ldns_rr_free(copy)
    if not text:
        raise ValueError("ldns cannot print a record")
    try:
        return ctypes.string_at(text).decode("ascii")
    finally:
        _LIBC.free(text)


def _error(status):
    return _LDNS.ldns_get_errorstr_by_id(status).decode()
