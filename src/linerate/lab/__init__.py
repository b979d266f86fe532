"""Lab: links, devices under test and testers, put together for one trial."""
