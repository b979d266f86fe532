-- Limits of each device, and how often each
SELECT
    device, scenario, "limit" AS limited_by, count(*) AS trials,
    median(received_pps) / 1e6 AS mpps
FROM trials
WHERE valid
GROUP BY ALL
ORDER BY device, scenario, trials DESC
