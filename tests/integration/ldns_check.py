"""ldns's opinion on a DNS message.

By ctypes from the library that drill uses: Debian's Python binding cannot be given bytes above 127.
"""

import ctypes

_LDNS = ctypes.CDLL("libldns.so.3")
_LDNS.ldns_wire2pkt.argtypes = (ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_size_t)
_LDNS.ldns_pkt2str.argtypes = (ctypes.c_void_p,)
_LDNS.ldns_pkt2str.restype = ctypes.c_void_p
_LDNS.ldns_pkt_free.argtypes = (ctypes.c_void_p,)
_LDNS.ldns_get_errorstr_by_id.restype = ctypes.c_char_p
_LIBC = ctypes.CDLL(None)
_LIBC.free.argtypes = (ctypes.c_void_p,)


def complaint(wire):
    """None if ldns parses the message and can print it, else what it says."""
    packet = ctypes.c_void_p()
    status = _LDNS.ldns_wire2pkt(ctypes.byref(packet), wire, len(wire))
    if status != 0:
        return _LDNS.ldns_get_errorstr_by_id(status).decode()
    text = _LDNS.ldns_pkt2str(packet)
    _LDNS.ldns_pkt_free(packet)
    if not text:
        return "ldns cannot print the message"
    _LIBC.free(text)
    return None
