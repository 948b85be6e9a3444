"""Raw Ethernet frames on the client's end of the veth, with the VLAN tag that was on the wire."""

import contextlib
import socket
import struct
import time

from scapy.all import Ether, raw

_SOL_PACKET, _PACKET_ADD_MEMBERSHIP, _PACKET_AUXDATA = 263, 1, 8
_PACKET_MR_PROMISC = 1
_TP_STATUS_VLAN_VALID = 1 << 4
_ETH_P_ALL = 3
_AUXDATA = struct.Struct("=IIIHHHH")


class Wire:
    """Sends frames as they are, and sees everything that arrives."""

    def __init__(self, namespace, device):
        with namespace.inside():
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                         socket.htons(_ETH_P_ALL))
            self._socket.bind((device, _ETH_P_ALL))
            index = socket.if_nametoindex(device)
        self._socket.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
        self._socket.setsockopt(_SOL_PACKET, _PACKET_ADD_MEMBERSHIP,
                                struct.pack("=iHH8s", index, _PACKET_MR_PROMISC, 0, b""))

    def close(self):
        self._socket.close()

    def send(self, frame):
        self._socket.send(raw(frame))

    def frames(self, seconds):
        """Bytes of the frames that arrive within the time, those we send left out."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                data, controls, _, sender = self._socket.recvmsg(65535, 256)
            except socket.timeout:
                return
            if sender[2] != socket.PACKET_OUTGOING:
                yield self._with_tag(data, controls)

    @staticmethod
    def _with_tag(data, controls):
        """The kernel takes a tag out of the frame and tells it apart: puts it back."""
        for level, kind, value in controls:
            if (level, kind) == (_SOL_PACKET, _PACKET_AUXDATA):
                status, _, _, _, _, tci, tpid = _AUXDATA.unpack(value[:_AUXDATA.size])
                if status & _TP_STATUS_VLAN_VALID:
                    return data[:12] + struct.pack("!HH", tpid or 0x8100, tci) + data[12:]
        return data

    def answer_to(self, frame, mac, seconds=2.0):
        """The first frame to `mac` that arrives after sending; None if there is none."""
        wanted = bytes.fromhex(mac.replace(":", ""))
        with contextlib.closing(self.frames(seconds)) as arriving:
            self.send(frame)
            for data in arriving:
                if data[:6] == wanted:
                    return data
        return None


def recomputed(data):
    """The frame with lengths and checksums worked out anew by scapy."""
    packet = Ether(data)
    for layer_name, fields in (("IP", ("len", "chksum")), ("IPv6", ("plen",)),
                               ("UDP", ("len", "chksum"))):
        layer = packet.getlayer(layer_name)
        if layer is not None:
            for field in fields:
                delattr(layer, field)
    return raw(packet)
