-- Fastest versions of each scenario
-- $scenario: this scenario alone
SELECT
    scenario, loadtest AS test, frame_bytes AS bytes, load, device, version,
    median(received_pps) / 1e6 AS mpps,
    100 * (max(received_pps) - min(received_pps)) / median(received_pps) AS spread,
    count(*) AS trials
FROM trials
WHERE valid AND ($scenario IS NULL OR scenario = $scenario)
GROUP BY ALL
ORDER BY scenario, test, bytes, load, mpps DESC
