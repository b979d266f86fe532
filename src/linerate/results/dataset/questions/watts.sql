-- Watts for each Mpps
SELECT
    device, version, scenario, testbed,
    median(watts) AS watts,
    median(received_pps) / 1e6 AS mpps,
    median(watts / (received_pps / 1e6)) AS watts_per_mpps
FROM trials
WHERE valid AND watts IS NOT NULL AND received_pps > 0
GROUP BY ALL
ORDER BY watts_per_mpps, device, version, scenario
