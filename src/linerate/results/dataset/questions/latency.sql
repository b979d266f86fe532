-- Latency at each load
-- $scenario: this scenario alone
SELECT
    device, version, loadtest AS test, frame_bytes AS bytes, load,
    median(latency_p50_us) AS p50_us,
    median(latency_p99_us) AS p99_us,
    max(latency_max_us) AS max_us,
    count(*) AS trials
FROM trials
WHERE valid AND latency_p50_us IS NOT NULL AND ($scenario IS NULL OR scenario = $scenario)
GROUP BY ALL
ORDER BY device, test, bytes, median(received_pps)
