"""`linerate nic …`: what a NIC can do, found out by trying."""
