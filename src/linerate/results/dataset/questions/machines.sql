-- Machines of each testbed, and since when
SELECT
    testbed, machine, strftime(min(started), '%Y-%m-%d') AS since,
    kernel, microcode, bios, nic_firmware AS firmware, count(*) AS trials
FROM trials
GROUP BY testbed, machine, kernel, microcode, bios, nic_firmware
ORDER BY testbed, since, machine
