/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame lengths: those that are sent, and those that ports and cards may be configured for. */
#ifndef LINERATE_FRAME_H
#define LINERATE_FRAME_H

/* With FCS, without VLAN tags. The longest is what an X710 takes. */
#define FRAME_BYTES_MIN 64
#define FRAME_BYTES_MAX 9728
/* Default of ports: 1,500 bytes of IP, Ethernet, FCS and a VLAN tag. */
#define FRAME_BYTES_DEFAULT 1522

#endif
