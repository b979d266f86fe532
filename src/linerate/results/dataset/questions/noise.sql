-- Spread of repeated trials, by testbed
SELECT
    testbed, count(*) AS repeated,
    median(spread) AS median_percent,
    quantile_cont(spread, 0.9) AS p90_percent,
    max(spread) AS worst_percent
FROM (
    SELECT
        testbed,
        100 * (max(received_pps) - min(received_pps)) / median(received_pps) AS spread
    FROM trials
    WHERE valid AND received_pps > 0
    GROUP BY testbed, machine, device, version, commit, setting, scenario, "values", loadtest,
        frame_bytes, load
    HAVING count(*) > 1
)
GROUP BY testbed
ORDER BY median_percent
